/**
 * The port's part for silence: when each publisher and each consumer was last present, its longest pauses, its expected interval, and
 * whether it has been silent for longer (PROTOCOL §14.7). `rules.ts` decides what follows from that.
 */
import type { FeedName } from '@property-events/protocol'
import type { AuditChange } from '../../audit/audit.ts'
import type { Actor } from '../../audit/actor.ts'

/** A publisher is whatever publishes to one feed, with any key. A consumer is a key, or a key and a name, for all feeds it reads. */
export type PresenceName =
  | { readonly kind: 'publisher'; readonly tenantId: string; readonly feed: FeedName }
  | { readonly kind: 'consumer'; readonly keyId: string; readonly name: string }

/** The longest pause that ended on a day. */
export interface Pause {
  /** Days since 1970, UTC. */
  readonly day: number
  readonly ms: number
}

/** An expectation that was set: an interval in milliseconds; `never`: nothing is expected. */
export type SetExpectation = number | 'never'

/** Times are milliseconds since 1970. */
export interface Presence {
  readonly name: PresenceName
  /** When it was seen for the first time; `undefined`: not yet. */
  readonly firstMs: number | undefined
  /** When it was last seen, to within some minutes. */
  readonly lastMs: number | undefined
  /** Ascending by day. */
  readonly pauses: readonly Pause[]
  /** Since when it can be expected; `undefined`: it cannot, for example because its tenant is suspended. */
  readonly activeMs: number | undefined
  /** It has been silent for too long, since then; `undefined`: it has not. */
  readonly silentMs: number | undefined
  /** What was last reported: that it is silent, or that it is not (any more). */
  readonly isReported: boolean
  /** `undefined`: the interval is learned. */
  readonly expectation: SetExpectation | undefined
}

/** How long pauses are kept and used for learning. */
export const pauseDaysKept = 14
/** The most rows that one call reads or writes. */
export const presencesPerStep = 500
/** The time between two checks, for all nodes together. */
export const checkEveryMs = 60_000
/** The most consumers of a key that have a setting. */
export const setConsumersPerKey = 200
/** If nobody has checked for this long, everything counts as seen when the next check begins. */
export const mostUnwatchedMs = 300_000
/** If a clock was set back by less than this, checks wait. */
export const mostClockStepMs = 3_600_000

/** The right of one node to check, until the next node has it. */
export interface SilenceTurn {
  readonly number: number
  /** Since when there have been no more than some minutes between two checks. */
  readonly watchedMs: number
  /** Publications up to this minute have been read; 0: none. */
  readonly minute: number
}

/** A consumer of a feed, and when it last asked. */
export interface LastAsked {
  readonly tenantId: string
  readonly feed: FeedName
  readonly keyId: string
  readonly name: string
  readonly askedMs: number
}

/** Who published something within a minute. */
export interface PublishedAt {
  /** Minutes since 1970, UTC. */
  readonly minute: number
  readonly publishers: readonly { readonly tenantId: string; readonly feed: FeedName }[]
}

export interface SilenceCounts {
  readonly publishers: number
  readonly consumers: number
}

export interface SilenceStore {
  /**
   * Takes the turn to check; `undefined`: the last check, of any node, was less than a minute ago. Of any number of nodes that call at the
   * same time, one gets it. `nowMs`: by the node's clock.
   */
  takeTurn(nowMs: number): Promise<SilenceTurn | undefined>
  /** Consumers after this one, by tenant, feed, key and name, with the last answer of any view. */
  asked(after: LastAsked | undefined, limit: number): Promise<readonly LastAsked[]>
  /** The first minute after this one in which a publication was accepted, up to `toMinute`; `undefined`: there is none. */
  publishedAfter(minute: number, toMinute: number): Promise<PublishedAt | undefined>
  /** Presences after this one, publishers first, in a fixed order. */
  presences(after: PresenceName | undefined, limit: number): Promise<readonly Presence[]>
  /** The stored presences with these names, in no order. At most `presencesPerStep`. */
  find(names: readonly PresenceName[]): Promise<readonly Presence[]>
  /** The consumers of these keys, in no order. */
  ofKeys(keyIds: readonly string[]): Promise<readonly Presence[]>
  /**
   * Replaces the stored presences with the same names, except their expectations, and removes others, in one commit; the turn continues.
   * False: the turn has ended, and nothing was changed. At most `presencesPerStep` in all, no two with one name.
   */
  put(
    turn: SilenceTurn,
    nowMs: number,
    presences: readonly Presence[],
    removed: readonly PresenceName[],
  ): Promise<boolean>
  /** Stores the minute up to which publications were looked through, if the turn continues. */
  endTurn(turn: SilenceTurn, minute: number): Promise<void>
  /** The silent ones, those with the longest silence first. */
  silent(limit: number): Promise<readonly Presence[]>
  countSilent(): Promise<SilenceCounts>
  /** Keys that another key has replaced in a rotation. */
  replacedKeys(): Promise<readonly { readonly keyId: string; readonly by: string }[]>
  /**
   * Sets the expectation; `undefined`: it is learned. Records it in the audit if that changes anything. `tooMany`: `setConsumersPerKey`
   * others of the key already have a setting.
   */
  expect(name: PresenceName, expectation: SetExpectation | undefined, actor: Actor): Promise<ExpectOutcome>
}

export type ExpectOutcome = 'done' | 'unknownTenant' | 'unknownKey' | 'tooMany'

/** A name in the columns of the stores' key. */
export interface PresenceKey {
  readonly kind: number
  /** Empty for a consumer. */
  readonly tenant: string
  /** Empty for a publisher. */
  readonly key_id: string
  /** The feed, or the name of the consumer. */
  readonly part: string
}

export const presenceKinds = { publisher: 1, consumer: 2 } as const

export function presenceKeyOf(name: PresenceName): PresenceKey {
  return name.kind === 'publisher'
    ? { kind: presenceKinds.publisher, tenant: name.tenantId, key_id: '', part: name.feed }
    : { kind: presenceKinds.consumer, tenant: '', key_id: name.keyId, part: name.name }
}

export function presenceNameOf({ kind, tenant, key_id: keyId, part }: PresenceKey): PresenceName {
  return kind === presenceKinds.publisher
    ? { kind: 'publisher', tenantId: tenant, feed: part === 'property' ? 'property' : 'contact' }
    : { kind: 'consumer', keyId, name: part }
}

/** One text for each name, in the order of the stores: no part of it has a blank. */
export function presenceText(name: PresenceName): string {
  return Object.values(presenceKeyOf(name)).join(' ')
}

/** The presence of a name that was not seen yet. */
export function newPresence(name: PresenceName): Presence {
  const never = { firstMs: undefined, lastMs: undefined, activeMs: undefined, silentMs: undefined }
  return { name, ...never, pauses: [], isReported: true, expectation: undefined }
}

/** Pauses in a column of a store. */
export function pausesText(pauses: readonly Pause[]): string {
  return JSON.stringify(pauses.map(({ day, ms }) => [day, ms]))
}

export function pausesOf(text: string): readonly Pause[] {
  const rows: readonly (readonly [number, number])[] = JSON.parse(text)
  return rows.map(([day, ms]) => ({ day, ms }))
}

/** The progress of checks. */
export type TurnState = SilenceTurn & {
  /** The last time that a check continued. */
  readonly checkedMs: number
}

/** The turn after this one; `undefined`: it is not due yet. */
export function nextTurn({ checkedMs, ...before }: TurnState, nowMs: number): TurnState | undefined {
  const sinceMs = nowMs - checkedMs
  const isSetBack = sinceMs < -mostClockStepMs
  // A little less than the time between two checks, because timers are never quite even.
  if (sinceMs < checkEveryMs * 0.9 && !isSetBack) return undefined
  const watchedMs = sinceMs > mostUnwatchedMs || isSetBack ? nowMs : before.watchedMs
  return { number: before.number + 1, watchedMs, minute: before.minute, checkedMs: nowMs }
}

/** What the audit records about a change. `keyTenants`: the tenants of a consumer's key; one row for each. */
export function intervalExpected(
  name: PresenceName,
  expectation: SetExpectation | undefined,
  keyTenants: readonly string[],
): readonly AuditChange[] {
  const ms = expectation === 'never' ? 0 : (expectation ?? null)
  const isPublisher = name.kind === 'publisher'
  const detail = { of: isPublisher ? name.feed : ('consumer' as const), ms }
  const target = isPublisher ? name.tenantId : name.keyId
  const tenants = isPublisher ? [name.tenantId] : [...new Set<string | null>(keyTenants)]
  const rows = tenants.length === 0 ? [null] : tenants
  return rows.map((tenant) => ({ action: 'interval.expected', tenant, target, detail }))
}
