/** The port's part for what was published, by whom and how successfully: numbers and codes, and nothing of any payload (PROTOCOL §14). */
import type { FeedKey } from '../../events/feed-key.ts'
import type { NumberRange } from '../../runtime/number-ranges.ts'

/** Identifies counts that are added together: those of a key, a feed and a minute. */
export interface PublishedMinuteName {
  readonly key: FeedKey
  readonly keyId: string
  /** Minutes since 1970, UTC. */
  readonly minute: number
}

export interface Warnings {
  /** How often each code occurred in the receipts. */
  readonly warnings: Readonly<Record<string, number>>
  /** Examples of where each of these codes came: at most `placesPerWarning`, the first in the order of their text. */
  readonly warningPlaces: WarningPlaces
}

/** What a key published to a feed within one minute, without dry runs. */
export interface PublishedMinute extends PublishedMinuteName, Warnings {
  /** Including refused ones. */
  readonly requests: number
  /** Events that are on disk, including those that the service added. */
  readonly stored: number
  readonly repeated: number
  readonly unchanged: number
  /** The lowest and the highest of the stored events; `undefined`: none was stored. */
  readonly numbers: NumberRange | undefined
  readonly refused: number
}

/** By code, JSON pointers into an event, as those of a `PublicationFault`: never what stood there. */
export type WarningPlaces = Readonly<Record<string, readonly string[]>>

/** One refused request. */
export interface PublicationRefusal extends PublishedMinuteName {
  readonly atMs: number
  readonly requestId: string
  /** The code of the problem. */
  readonly code: string
  /** Places and codes of its faults, never the values. */
  readonly faults: readonly PublicationFault[]
}

/** What is asked of refusals over all tenants. */
type RefusedPublication = Pick<PublicationRefusal, 'key' | 'keyId' | 'atMs' | 'code'>

export interface PublicationFault {
  /** JSON pointer into the body. `*` stands for names of members that the service does not know. */
  readonly pointer: string
  readonly code: string
}

/** One minute as it is read: with the refusals that are kept singly, by time. */
export interface KeptMinute extends PublishedMinute {
  readonly refusals: readonly PublicationRefusal[]
}

/** How long publications are kept. */
export const publicationDaysKept = 14
/** The number of refusals of a key that are kept singly within an hour. Further ones are only counted. */
export const refusalsPerHour = 100
/** So many examples of where a warning came are kept of a key, a feed and a minute. */
export const placesPerWarning = 5
/** How many minutes, and how many refusals, are added with one statement. */
export const publicationsPerCommit = 500

export interface PublicationQuery {
  readonly tenantId: string
  /** Only of this key; `undefined`: of all. */
  readonly keyId: string | undefined
  readonly fromMinute: number
  /** Included. */
  readonly toMinute: number
  /** Continues with minutes older than this one. */
  readonly before: PublishedMinuteName | undefined
  readonly limit: number
}

export interface PublicationStore {
  /**
   * Adds to the stored counts, in one commit; the sums are exact even if several nodes add to the same minutes at the same time. At most
   * `publicationsPerCommit` of each, no two minutes with the same name. The minute of each refusal is among those added. It waits for no
   * commit of events, and none waits for it.
   */
  add(minutes: readonly PublishedMinute[], refusals: readonly PublicationRefusal[]): Promise<void>
  /** The newest first; within a minute by feed and key, in a fixed order. */
  list(query: PublicationQuery): Promise<readonly KeptMinute[]>
  /**
   * Refusals that are kept singly, of all tenants, from this minute on: those of the newest minutes, and of a minute in no order. One run of
   * an index.
   */
  refusedSince(minute: number, limit: number): Promise<readonly RefusedPublication[]>
  /**
   * Takes one step: removes some of what is no longer kept. Returns the number of rows: 0 when nothing is left to do. Any number of nodes
   * may call it at the same time.
   */
  age(nowMs: number): Promise<number>
}

/** The sum of two counts with the same name. */
export function joinMinutes<Minute extends PublishedMinute>(one: Minute, other: PublishedMinute): Minute {
  return {
    ...one,
    ...joinWarnings(one, other),
    requests: one.requests + other.requests,
    stored: one.stored + other.stored,
    repeated: one.repeated + other.repeated,
    unchanged: one.unchanged + other.unchanged,
    numbers: joinNumbers(one.numbers, other.numbers),
    refused: one.refused + other.refused,
  }
}

export function joinWarnings(one: Warnings, other: Warnings): Warnings {
  const warnings: Record<string, number> = { ...one.warnings }
  for (const [code, count] of Object.entries(other.warnings)) warnings[code] = (warnings[code] ?? 0) + count
  return { warnings, warningPlaces: joinPlaces(one.warningPlaces, other.warningPlaces) }
}

/** The first of both in the order of their text, so that the same ones are kept in whatever order nodes add theirs. */
function joinPlaces(one: WarningPlaces, other: WarningPlaces): WarningPlaces {
  const places: Record<string, readonly string[]> = { ...one }
  for (const [code, more] of Object.entries(other)) {
    places[code] = [...new Set([...(places[code] ?? []), ...more])].toSorted().slice(0, placesPerWarning)
  }
  return places
}

function joinNumbers(one: NumberRange | undefined, other: NumberRange | undefined): NumberRange | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return [Math.min(one[0], other[0]), Math.max(one[1], other[1])]
}

/** The first minute that is still kept. */
export function firstKeptMinute(nowMs: number): number {
  return Math.floor(nowMs / 60_000) - publicationDaysKept * 1_440
}

/** The hour that a minute belongs to. */
export function hourOfMinute(minute: number): number {
  return Math.floor(minute / 60)
}
