/**
 * The port's part for retention (D17, docs/decisions/0034): superseded events lose their payloads with age, by rules that a tenant
 * can have of its own. Carried out in steps that any node goes on with, one node at a time.
 */
import type { Ticks } from '@property-events/protocol'
import type { Actor } from './audit-store.ts'
import { bytesPerReduction } from './erasure-store.ts'
import type { FeedKey } from './feed-key.ts'

export const retentionRules = ['retain-contacts', 'retain-properties', 'expire-contacts'] as const

/**
 * - `retain-contacts`, `retain-properties`: superseded events of the feed that are older lose their payloads
 * - `expire-contacts`: contacts that have not changed for so long are erased, after they were on a list
 */
export type RetentionRule = (typeof retentionRules)[number]

/** What a tenant has in place of the service's own setting. */
export interface TenantRule {
  readonly tenantId: string
  readonly rule: RetentionRule
  /** Whole days; 0: off. */
  readonly days: number
}

/** What is to lose its payload: of each subject the events that are older than `before` and were superseded before `supersededBefore`. */
export interface ThinSpan {
  readonly key: FeedKey
  readonly before: Ticks
  /** Later than `before`. */
  readonly supersededBefore: Ticks
}

/**
 * How far two walks through a feed have come, as positions. The first walks by age: what it passes while it is superseded is thinned.
 * The second walks what came since: an event there supersedes the one before it of its subject, which the first may have passed.
 */
export interface ThinProgress {
  readonly aged: number
  readonly superseded: number
  /** What was passed because its subject was on hold or restricted; `undefined`: nothing was. */
  readonly held?: HeldMark | undefined
}

/** The first walk goes back to there for a later day, when holds and restrictions may have ended. */
export interface HeldMark {
  /** Position of the first event that was passed. */
  readonly from: number
  /** `supersededBefore` of the span at the time. */
  readonly before: Ticks
}

/** A step, and how many events it took the payloads of. `finished`: nothing of the span is left. */
export type ThinOutcome =
  | { readonly kind: 'thinned'; readonly events: number }
  | { readonly kind: 'finished' }
  /** Another node is at it, or was within the last seconds. */
  | { readonly kind: 'busy' }
  /** The tenant is being moved to another store, or was (`MoveState`); or there is no such tenant. */
  | { readonly kind: 'closed' }

export interface RetentionStore {
  /** The rules that tenants have of their own, by tenant; of one tenant alone where it is named. */
  rules(tenantId?: string): Promise<readonly TenantRule[]>
  /** `days`: 0 for off; `undefined`: as the service is set. */
  setRule(
    tenantId: string,
    rule: RetentionRule,
    days: number | undefined,
    actor: Actor,
  ): Promise<'done' | 'unknownTenant'>
  /**
   * Looks at the next events of a feed, `limit` at most, and takes the payloads of those in the span, in one commit that raises the
   * feed's `thinned` if there are any. Ids, numbers, times, types and categories stay, and the ids stay taken; content hashes go. A
   * subject's latest event is never touched. One node at a time: the others find it `busy` until it has been silent for 10 seconds.
   */
  thin(span: ThinSpan, limit: number, nodeId: string): Promise<ThinOutcome>
  /**
   * As the step of a node takes it, without one: nothing is thinned by others for the next 10 seconds, or until `endTurn`. Asked again
   * before, for 10 seconds more. False: another node has it.
   */
  takeTurn(nodeId: string): Promise<boolean>
  /** Another node need not wait. Without effect where the node does not have the turn. */
  endTurn(nodeId: string): Promise<void>
  /**
   * How many events `thin` would take the payloads of in its next step, and how far it would come; `undefined`: it would find
   * nothing left. Begun without `progress`, continued with what it answered. Nothing is changed.
   */
  countDue(
    span: ThinSpan,
    limit: number,
    progress?: ThinProgress,
  ): Promise<{ readonly events: number; readonly progress: ThinProgress } | undefined>
}

/** For so long a node that thins is waited for. */
export const retentionTurnMs = 10_000

/** An event that a step is to take the payload of. */
export interface DueEvent {
  /** Where the walk met it: its own position, or that of the event which superseded it. */
  readonly at: number
  readonly byteLength: number
  readonly position: number
  /** Its subject is on hold (`HoldStore`), or restricted until all is shown again (`RestrictionStore`). */
  readonly isHeld: boolean
}

/** Where a step begins and ends, from where the last one ended and the last positions of the span. */
export interface ThinStep {
  readonly from: ThinProgress
  readonly to: ThinProgress
  /** What was superseded by a later event than this counts as not superseded yet. */
  readonly supersededUntil: number
  /** Of the span. */
  readonly supersededBefore: Ticks
}

/**
 * The next step, `undefined` at the end. `ends`: the last positions of before the two times. A subject's latest is passed by the
 * first walk, so what supersedes it later has to lie where the second has not been: neither is set back by a clock that was.
 */
export function nextThinStep(
  stored: ThinProgress | undefined,
  ends: ThinProgress,
  { supersededBefore }: ThinSpan,
  limit: number,
): ThinStep | undefined {
  const supersededUntil = Math.max(stored?.superseded ?? 0, ends.superseded)
  // Nothing was passed at first, so nothing that was can have been superseded. Where a rule now keeps more than it did, what was
  // passed under it is not old enough any more, and the first walk comes to it again.
  const held = stored?.held
  const isNewDay = held !== undefined && supersededBefore > held.before
  const passed = isNewDay ? held.from - 1 : Infinity
  const aged = Math.min(stored?.aged ?? 0, ends.aged, passed)
  const superseded = stored?.superseded ?? supersededUntil
  const from = { aged, superseded, held: isNewDay ? undefined : held }
  const common = { from, supersededUntil, supersededBefore }
  if (aged < ends.aged) {
    return { ...common, to: { ...from, aged: Math.min(aged + limit, ends.aged) } }
  }
  if (aged === 0 || from.superseded >= ends.superseded) return undefined
  const to = { ...from, superseded: Math.min(superseded + limit, ends.superseded) }
  return { ...common, to }
}

/**
 * As much of a step as has at most so many bytes, and at least one event, without those on hold. `due`: in the order of the walk.
 */
export function cutThinStep<Due extends DueEvent>(
  step: ThinStep,
  due: readonly Due[],
): { readonly due: readonly Due[]; readonly to: ThinProgress } {
  const { taken, to } = cutByBytes(step, due)
  const held = taken.filter(({ isHeld }) => isHeld).map(({ position }) => position)
  const from = Math.min(...held, to.held?.from ?? Infinity)
  const mark = held.length === 0 ? to.held : { from, before: step.supersededBefore }
  return { due: taken.filter(({ isHeld }) => !isHeld), to: { ...to, held: mark } }
}

function cutByBytes<Due extends DueEvent>(
  { from, to }: ThinStep,
  due: readonly Due[],
): { readonly taken: readonly Due[]; readonly to: ThinProgress } {
  let bytes = 0
  const end = due.findIndex(({ byteLength }, index) => (bytes += byteLength) > bytesPerReduction && index > 0)
  const first = due[end]
  if (first === undefined) return { taken: due, to }
  const last = first.at - 1
  return {
    taken: due.slice(0, end),
    to: to.aged > from.aged ? { ...to, aged: last } : { ...to, superseded: last },
  }
}
