/** Parameters of our own reads, as the OpenAPI document describes them. */
import { apiEventTypePattern, feeds, keyIdPattern } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { exampleIds } from '@property-events/protocol/example-ids'
import type { ParameterSchema, PathSchema, PathSchemas } from './operation-schema.ts'

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
