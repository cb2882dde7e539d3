/** The types of the wire as files: all of them for the service and the console, and what the client needs, since it is published alone. */
import { feedNames, feeds, standardCode, standardMeanings } from '../../src/plain.ts'
import type { FeedName } from '../../src/plain.ts'
import { namedSchemas } from '../named-schemas.ts'
import { wireNames, wireTypes } from './wire-types.ts'

const warning = 'Written by `npm run openapi`. Do not edit.'

/** `wire.ts`. */
export function wireModule(): string {
  const names = Object.keys(namedSchemas).map((name) => `\n  | '${name}'`)
  return `/** What is on the wire (PROTOCOL). ${warning} */

/** Its members are those of its JSON Schema. */
type PropertyPayload = object
type ContactPayload = object

${wireTypes(wireNames)}
/** The names of all schemas in the description of the service. */
export type SchemaName =${names.join('')}
`
}

const ofClient = [
  'FeedEvent',
  'EventPage',
  'EventRun',
  'Heads',
  'PropertyState',
  'PropertyRemoval',
  'ContactPublication',
  'PublishReceipt',
  'FeedDigest',
  'ConsumerResult',
  'ResultsReceipt',
  'PropertyConsumers',
  'PropertyTerms',
  'DutyLists',
  'Consumers',
  'ErasureRequest',
  'ErasureCount',
  'Erasure',
  'HoldRequest',
  'Hold',
  'RestrictionRequest',
  'Restriction',
  'ProblemError',
]

/** `packages/client/src/wire.ts`. */
export function clientWireModule(): string {
  return `/** The data between the client and a feed (PROTOCOL §3, §4, §5.7, §11, §14). ${warning} */
import type { ContactPayload, PropertyPayload } from './payload/payload-types.ts'

${wireTypes(ofClient)}
/** The paths of a feed; those that end with \`/\` are followed by an id. */
interface FeedPaths {
${Object.keys(pathsOf('property'))
  .map((name) => `  readonly ${name}: string\n`)
  .join('')}}

export const feedPaths: Readonly<Record<FeedName, FeedPaths>> = {
${feedNames.map(feedPathsText).join('')}}

/** The short codes that every service has: of which feed, and whether they say that the subject is gone (PROTOCOL §5.2). */
export const eventCodes = {
${feedNames.map(eventCodesText).join('')}} as const

export const headsPath = '/v1/heads'
export const erasuresPath = '/v1/erasures'
export const holdsPath = '/v1/holds'
export const restrictionsPath = '/v1/restrictions'
`
}

function feedPathsText(feed: FeedName): string {
  const lines = Object.entries(pathsOf(feed)).map(([name, path]) => `    ${name}: '${path}',\n`)
  return `  ${feed}: {\n${lines.join('')}  },\n`
}

function eventCodesText(feed: FeedName): string {
  return standardMeanings
    .map(
      (meaning) => `  ${standardCode(feed, meaning)}: { feed: '${feed}', isGone: ${meaning === 'gone'} },\n`,
    )
    .join('')
}

function pathsOf(feed: FeedName) {
  const { eventsPath, publishPath, subjectsPath } = feeds[feed]
  return {
    list: `${eventsPath}/getevents`,
    get: `${eventsPath}/geteventbyid/`,
    events: publishPath,
    stream: `${publishPath}/stream`,
    snapshot: `${publishPath}/snapshot`,
    digest: `${publishPath}/digest`,
    subjects: `${subjectsPath}/`,
    consumers: `/v1/${feed}-consumers/`,
  }
}
