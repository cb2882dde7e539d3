/**
 * The port's part for retention (D17, docs/decisions/0034): superseded events lose their payloads with age, by rules that a tenant can
 * have of its own. It is carried out in steps that any node can continue, one node at a time.
 */
import type { Ticks } from '@property-events/protocol'
import type { FeedRefusal } from '../../events/feed.ts'
import type { Actor } from '../../audit/actor.ts'
import { rowsOfStep } from '../erasure/erasure.ts'
import type { FeedKey } from '../../events/feed-key.ts'

export const retentionRules = ['retain-contacts', 'retain-properties', 'expire-contacts'] as const

/**
 * - `retain-contacts`, `retain-properties`: older superseded events of the feed lose their payloads
 * - `expire-contacts`: contacts that have not changed for this long are erased, after a time on a list
 */
export type RetentionRule = (typeof retentionRules)[number]

/** A tenant's own rule, in place of the service's setting. */
export interface TenantRule {
  readonly tenantId: string
  readonly rule: RetentionRule
  /** Whole days; 0: off. */
  readonly days: number
}

/** Which events lose their payloads: those of each subject that are older than `before` and were superseded before `supersededBefore`. */
export interface ThinSpan {
  readonly key: FeedKey
  readonly before: Ticks
  /** Later than `before`. */
  readonly supersededBefore: Ticks
}

/**
 * The progress of two walks through a feed, as positions. The first walks by age: what it passes is thinned if it is superseded. The
 * second walks what came since: an event there supersedes the previous one of its subject, which the first walk may have passed.
 */
export interface ThinProgress {
  readonly aged: number
  readonly superseded: number
  /** What was passed because its subject was on hold or restricted; `undefined`: nothing was. */
  readonly held?: PassedMark | undefined
}

/** The first walk returns to this place on a later day, when holds and restrictions may have ended. */
interface PassedMark {
  /** Position of the first event that was passed. */
  readonly from: number
  /** `supersededBefore` of the span at that time. */
  readonly before: Ticks
}

/** A step, and how many payloads it removed. `finished`: nothing of the span is left. */
export type ThinOutcome =
  | { readonly kind: 'thinned'; readonly events: number }
  | { readonly kind: 'finished' }
  /** Another node is working on it, or was within the last seconds. */
  | { readonly kind: 'busy' }
  | FeedRefusal

/** The rules, and the turn of the node that thins. */
export interface RetentionRules {
  /** The tenants' own rules, by tenant; only of one tenant if it is named. */
  rules(tenantId?: string): Promise<readonly TenantRule[]>
  /** `days`: 0 for off; `undefined`: the service's setting. */
  setRule(
    tenantId: string,
    rule: RetentionRule,
    days: number | undefined,
    actor: Actor,
  ): Promise<'done' | 'unknownTenant'>
  /**
   * Takes the turn as a node's step does, without a step: others thin nothing for the next 10 seconds, or until `endTurn`. Another call
   * before that adds 10 seconds. False: another node has the turn.
   */
  takeTurn(nodeId: string): Promise<boolean>
  /** Lets another node begin without waiting. Has no effect if the node does not have the turn. */
  endTurn(nodeId: string): Promise<void>
}

/** What reduces events, in the log. */
export interface Thinning {
  /**
   * Looks at the next events of a feed, at most `limit`, and removes the payloads of those in the span, in one commit that raises the
   * feed's `thinned` if there are any. Ids, numbers, times, types and categories stay, and the ids stay taken; content hashes are
   * removed. A subject's latest event is never touched. One node works at a time: the others find it `busy` until it has been silent for
   * 10 seconds.
   */
  thin(span: ThinSpan, limit: number, nodeId: string): Promise<ThinOutcome>
  /**
   * How many payloads `thin` would remove in its next step, and how far it would get; `undefined`: it would find nothing left. Begin
   * without `progress`, and continue with the one it returned. Nothing is changed.
   */
  countDue(
    span: ThinSpan,
    limit: number,
    progress?: ThinProgress,
  ): Promise<{ readonly events: number; readonly progress: ThinProgress } | undefined>
}

export interface RetentionStore extends RetentionRules, Thinning {}

/** How long other nodes wait for a node that thins. */
export const retentionTurnMs = 10_000

/** An event whose payload a step should remove. */
export interface DueEvent {
  /** Where the walk met it: at its own position, or at that of the event which superseded it. */
  readonly at: number
  readonly byteLength: number
  readonly position: number
  /** Its subject is on hold (`HoldStore`), or restricted until everything is shown again (`RestrictionStore`). */
  readonly isHeld: boolean
}

/** Where a step begins and ends, from the end of the last one and the last positions of the span. */
export interface ThinStep {
  readonly from: ThinProgress
  readonly to: ThinProgress
  /** An event that was superseded by a later event than this counts as not superseded yet. */
  readonly supersededUntil: number
  /** Of the span. */
  readonly supersededBefore: Ticks
}

/**
 * The next step, `undefined` at the end. `ends`: the last positions before the two times. The first walk passes a subject's latest event,
 * so an event that supersedes it later must be where the second walk has not been: neither walk goes back if a clock does.
 */
export function nextThinStep(
  stored: ThinProgress | undefined,
  ends: ThinProgress,
  { supersededBefore }: ThinSpan,
  limit: number,
): ThinStep | undefined {
  const supersededUntil = Math.max(stored?.superseded ?? 0, ends.superseded)
  // Nothing was passed at first, so nothing that was passed can have been superseded. If a rule now keeps more than before, what was
  // passed under it is no longer old enough, and the first walk comes to it again.
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

/** The part of a step with at most this many bytes, and at least one event, without those on hold. `due`: in the order of the walk. */
export function cutThinStep<Due extends DueEvent>(
  step: ThinStep,
  due: readonly Due[],
): { readonly due: readonly Due[]; readonly to: ThinProgress } {
  const { part, to } = cutByBytes(step, due)
  const held = part.filter(({ isHeld }) => isHeld).map(({ position }) => position)
  const from = Math.min(...held, to.held?.from ?? Infinity)
  const mark = held.length === 0 ? to.held : { from, before: step.supersededBefore }
  return { due: part.filter(({ isHeld }) => !isHeld), to: { ...to, held: mark } }
}

function cutByBytes<Due extends DueEvent>(
  { from, to }: ThinStep,
  due: readonly Due[],
): { readonly part: readonly Due[]; readonly to: ThinProgress } {
  const { rows: part } = rowsOfStep(due, Infinity, ({ byteLength }) => byteLength)
  const next = due[part.length]
  if (next === undefined) return { part, to }
  const last = next.at - 1
  return { part, to: to.aged > from.aged ? { ...to, aged: last } : { ...to, superseded: last } }
}
