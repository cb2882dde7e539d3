/**
 * The feeds of the service (spec §1.3, D18): one definition each. A new feed is one more entry in `feeds`.
 */

export const feedNames = ['property', 'contact'] as const

/** Which feed of a tenant: property events or contact events. */
export type FeedName = (typeof feedNames)[number]

export const categories = ['sales', 'lettings'] as const

/** The category of a property event (D23). Contact events have none. */
export type Category = (typeof categories)[number]

/** The parts of a feed that can be listed by themselves: everything, or one category. Each has its own dense ordinals. */
export type ViewName = 'all' | Category

export const scopes = [
  'property:read',
  'contact:read',
  'property:publish',
  'contact:publish',
  'property:erase',
  'contact:erase',
  'property:webhooks',
  'contact:webhooks',
] as const

/** What a key may do with one tenant's feeds (D11). */
export type Scope = (typeof scopes)[number]

/** What a key may do to one tenant, through the routes of administration (D11). */
export const tenantScopes = ['tenant:inspect', 'tenant:manage'] as const

/** Everything that a grant may hold. */
export const grantScopes = [...scopes, ...tenantScopes] as const

export type GrantScope = (typeof grantScopes)[number]

/** Branches that a grant can be limited to. Each set of branches has views of its own, to which every event is added. */
export const maxGrantedBranches = 100
/** Of the name of a branch in a grant, in UTF-16 units. */
export const maxBranchLength = 100

export const adminScopes = [
  'admin:inspect',
  'admin:manage',
  'admin:reveal',
  'admin:erase',
  'admin:audit',
] as const

/** What an operator key may do, to every tenant (D11). */
export type AdminScope = (typeof adminScopes)[number]

interface FeedDefinition {
  readonly name: FeedName
  /** Path of the spec's operations, after the base URL (spec §4; D18 for contacts). */
  readonly eventsPath: string
  /** Path of our publishing operation, after the base URL, and of reading events after a number (D21). */
  readonly publishPath: string
  /** Path of our reads of one subject, after the base URL; the subject's UUID follows. */
  readonly subjectsPath: string
  /** The payload member that names the subject, a UUID (D16). */
  readonly subjectField: 'agent_ref' | 'contact_ref'
  readonly readScope: Scope
  readonly publishScope: Scope
  readonly eraseScope: Scope
  /** To have its events posted. */
  readonly webhooksScope: Scope
  /** The values of `apiEventType` (canonical spelling, D1) and the view that each one lists. The first is the default. */
  readonly apiEventTypes: Readonly<Record<string, ViewName>>
}

export const feeds: Readonly<Record<FeedName, FeedDefinition>> = {
  property: {
    name: 'property',
    eventsPath: '/api/func/api/v1/events',
    publishPath: '/v1/property-events',
    subjectsPath: '/v1/properties',
    subjectField: 'agent_ref',
    readScope: 'property:read',
    publishScope: 'property:publish',
    eraseScope: 'property:erase',
    webhooksScope: 'property:webhooks',
    apiEventTypes: { property: 'all', salesproperty: 'sales', lettingsproperty: 'lettings' },
  },
  contact: {
    name: 'contact',
    eventsPath: '/api/func/api/v1/contactevents',
    publishPath: '/v1/contact-events',
    subjectsPath: '/v1/contacts',
    subjectField: 'contact_ref',
    readScope: 'contact:read',
    publishScope: 'contact:publish',
    eraseScope: 'contact:erase',
    webhooksScope: 'contact:webhooks',
    apiEventTypes: { contact: 'all' },
  },
}

/** The views with ordinals of their own. The whole feed needs none: its ordinal is the position. */
export function viewsOf(feed: FeedName): readonly Category[] {
  return feed === 'property' ? categories : []
}

/**
 * The view an `apiEventType` names (D1): without regard to case, spaces, `-`, `_` and a trailing `event` or `events`.
 * `undefined` means the value is not one of the feed's.
 */
export function viewOfApiEventType(feed: FeedName, value: string): ViewName | undefined {
  const canonical = value
    .toLowerCase()
    .replaceAll(/[ _-]/g, '')
    .replace(/events?$/, '')
  const views = feeds[feed].apiEventTypes
  return Object.hasOwn(views, canonical) ? views[canonical] : undefined
}

/** The values that `viewOfApiEventType` takes, as a regular expression that generators of clients in all languages know. */
export function apiEventTypePattern(feed: FeedName): string {
  const between = '[ _-]*'
  const letters = (word: string): string =>
    Array.from(word, (letter) => `[${letter}${letter.toUpperCase()}]${between}`).join('')
  const values = Object.keys(feeds[feed].apiEventTypes).map(letters).join('|')
  return `^${between}(?:${values})(?:${letters('event')}(?:${letters('s')})?)?$`
}
