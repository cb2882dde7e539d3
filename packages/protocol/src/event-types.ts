import type { FeedName } from './feeds.ts'

/**
 * Event types are data (D12). A catalogue maps each short code of a feed to its number; several codes may share one.
 * It is recorded when a store is created, because the numbers stand in the stored bytes.
 */
export interface EventTypeCatalogue {
  readonly property: Readonly<Record<string, number>>
  readonly contact: Readonly<Record<string, number>>
}

/**
 * What an event says of its subject by a short code that every catalogue has (PROTOCOL §5.2). `appeared`: there was nothing to see before,
 * there is now. `changed`: was there before and is now. `gone`: not there any more.
 */
export const standardMeanings = ['appeared', 'changed', 'gone'] as const
type StandardMeaning = (typeof standardMeanings)[number]

/** `unsaid`: by its short code an event says nothing, and the payload's `published` decides. */
type EventMeaning = StandardMeaning | 'unsaid'

const standardCodes: Readonly<Record<FeedName, Readonly<Record<StandardMeaning, string>>>> = {
  property: { appeared: 'PropertyPublished', changed: 'PropertyUpdated', gone: 'PropertyUnpublished' },
  contact: { appeared: 'ContactCreated', changed: 'ContactUpdated', gone: 'ContactErased' },
}

/**
 * The only place that knows which short codes say that a subject is there, and which that it is gone. `undefined`: its publisher has named
 * none.
 */
export function meaningOf(feed: FeedName, shortCode: string | undefined): EventMeaning {
  return standardMeanings.find((meaning) => standardCodes[feed][meaning] === shortCode) ?? 'unsaid'
}

/** The short code that the service itself gives to an event with this meaning. */
export function standardCode(feed: FeedName, meaning: StandardMeaning): string {
  return standardCodes[feed][meaning]
}

/** The named catalogues. A store is created with one of these or with its own, and a key can read with the numbers of one of these. */
export const numberingNames = ['default', 'published-0'] as const
export type NumberingName = (typeof numberingNames)[number]

export function isNumberingName(text: string): text is NumberingName {
  return numberingNames.some((name) => name === text)
}

/**
 * `default`: the pair the spec shows (§6.1: 2 is `PropertyPublished`, 0 is something else) and 1 for removals.
 * `published-0`: for public clients that know only 0 (insert or update) and 1 (remove) and abort on any other number.
 */
export const catalogues: Readonly<Record<NumberingName, EventTypeCatalogue>> = {
  default: {
    property: { PropertyPublished: 2, PropertyUnpublished: 1, PropertyUpdated: 0 },
    contact: { ContactCreated: 0, ContactUpdated: 1, ContactErased: 2 },
  },
  'published-0': {
    property: { PropertyPublished: 0, PropertyUnpublished: 1, PropertyUpdated: 0 },
    contact: { ContactCreated: 0, ContactUpdated: 1, ContactErased: 2 },
  },
}

/** What is wrong with a would-be catalogue, in a sentence; `undefined` when it is a usable one. */
export function catalogueFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null)
    return 'A catalogue is an object with the members "property" and "contact".'
  for (const feed of ['property', 'contact'] as const) {
    const codes: unknown = Object.entries(value).find(([name]) => name === feed)?.[1]
    if (typeof codes !== 'object' || codes === null)
      return `The catalogue has no "${feed}" object of short code to number.`
    for (const [code, number] of Object.entries(codes)) {
      if (!/^[A-Za-z][A-Za-z0-9]{0,63}$/.test(code))
        return `"${code.slice(0, 64)}" is not a short code: letters and digits, at most 64.`
      if (!Number.isSafeInteger(number) || Number(number) < 0)
        return `The number of ${code} must be a whole number from 0.`
    }
    for (const code of Object.values(standardCodes[feed])) {
      if (!Object.hasOwn(codes, code))
        return `The catalogue's "${feed}" lacks the short code ${code}, which the service gives itself.`
    }
  }
  return undefined
}

/** The number of a short code, or `undefined` when the catalogue does not have it. */
export function eventTypeNumber(
  catalogue: EventTypeCatalogue,
  feed: FeedName,
  shortCode: string,
): number | undefined {
  const codes = catalogue[feed]
  return Object.hasOwn(codes, shortCode) ? codes[shortCode] : undefined
}
