/** Parameters of our own reads, as the OpenAPI document describes them. */
import { apiEventTypePattern, feeds, keyIdPattern, standardCode } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { ServiceLimits } from '../limits.ts'
import { longestWaitSeconds } from '../../reading/routes/cursor-parameters.ts'
import type { CursorName } from '../../reading/routes/cursor-parameters.ts'
import { exampleIds } from '@property-events/protocol/example-ids'
import type { ParameterSchema, PathSchema, PathSchemas } from './operation-schema.ts'

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

/** The id of a key as a parameter, apart from the key's text. */
export function keyIdSchema(description: string): PathSchema {
  return { type: 'string', pattern: keyIdPattern, description, examples: [exampleIds.keyId] }
}

/** A UUID in a path. */
export function uuidSchema(description: string, example: string): PathSchema {
  return { type: 'string', format: 'uuid', description, examples: [example] }
}

/** Which view of a feed. Its pattern accepts every spelling that the service accepts (D1). */
export function apiEventTypeSchema(feed: FeedName): ParameterSchema {
  const values = Object.keys(feeds[feed].apiEventTypes)
  return {
    type: 'string',
    pattern: apiEventTypePattern(feed),
    default: values[0],
    description: `Which events: ${values.map((value) => `\`${value}\``).join(', ')}. Case, blanks, \`-\`, \`_\` and a trailing \`event\` or \`events\` do not matter.`,
    examples: values,
  }
}

/** The subject in a path. */
export function subjectParams(feedName: FeedName): PathSchemas {
  const description = `The \`${feeds[feedName].subjectField}\` of the payload, in either case.`
  const example = feedName === 'property' ? exampleIds.agentRef : exampleIds.contactRef
  return { type: 'object', properties: { subjectId: uuidSchema(description, example) } }
}
