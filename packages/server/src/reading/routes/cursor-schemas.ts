/** The cursor parameters, as the OpenAPI document describes them. */
import { standardCode } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { ServiceLimits } from '../../http/limits.ts'
import type { ParameterSchema } from '../../http/openapi/operation-schema.ts'
import { apiEventTypeSchema } from '../../http/openapi/parameters.ts'
import { longestWaitSeconds } from './cursor-parameters.ts'
import type { CursorName } from './cursor-parameters.ts'

/** The cursor parameters that an operation has. */
export function cursorSchemas(
  names: readonly CursorName[],
  feed: FeedName,
  limits: ServiceLimits,
): Readonly<Record<string, ParameterSchema>> {
  const whole = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
  const schemas: Readonly<Record<CursorName, ParameterSchema>> = {
    after: { ...whole, default: 0, description: 'Only events with a greater sequenceNumber.' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: limits.maxPageSize,
      default: limits.maxPageSize,
      description: 'At most this many events.',
    },
    epoch: {
      type: 'string',
      pattern: '^[0-9A-Za-z]{1,64}$',
      description:
        'The epoch that `after` was read in. If the feed has left it, the answer is `epoch_changed`.',
    },
    head: { ...whole, description: 'The `head` of a snapshot that was cut off, to continue it.' },
    apiEventType: apiEventTypeSchema(feed),
    types: typesSchema(feed),
    wait: waitSchema('an event to be told of'),
  }
  return Object.fromEntries(names.map((name) => [name, schemas[name]]))
}

/** The store decides the codes, and a document is made without a store. */
function typesSchema(feed: FeedName): ParameterSchema {
  const appeared = standardCode(feed, 'appeared')
  const gone = standardCode(feed, 'gone')
  return {
    type: 'string',
    pattern: '^[A-Za-z][A-Za-z0-9]{0,63}(?:,[A-Za-z][A-Za-z0-9]{0,63})*$',
    description: `Only events with these short codes, with commas between them, such as \`${appeared}\`. Removals (\`${gone}\`) are always included. Left out: all.`,
    examples: [appeared],
  }
}

export function waitSchema(what: string): ParameterSchema {
  return {
    type: 'integer',
    minimum: 1,
    maximum: longestWaitSeconds,
    description: `Seconds for which the answer may wait until there is ${what}. Left out: it does not wait.`,
  }
}
