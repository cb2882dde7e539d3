/**
 * Finds out once a minute which publishers and consumers have fallen silent, on one of the nodes (PROTOCOL §14.7). A check reads when each
 * was last present from records that exist anyway, so nothing is added to the path of any request; it goes step by step, some hundreds of
 * rows at a time.
 */
import { unreported } from '../../runtime/background-task.ts'
import type { TaskReport } from '../../runtime/background-task.ts'
import { pause, startWorker } from '../../runtime/worker-loop.ts'
import type { Worker } from '../../runtime/worker-loop.ts'
import { checkEveryMs, newPresence, pauseDaysKept, presencesPerStep, presenceText } from './silence.ts'
import type { LastAsked, Presence, PresenceName, SilenceTurn } from './silence.ts'
import { expectedInterval, isOver, nextPresence, needsStatus, seenAt } from './rules.ts'
import type { ExpectedInterval, CheckFacts, Seen, PresenceStatus } from './rules.ts'
import { presenceStatuses } from './expectation.ts'
import type { PresenceStatuses, SilenceStorage } from './expectation.ts'

/** The silence of a publisher or consumer began or ended. */
export interface SilenceChange {
  readonly change: 'began' | 'ended'
  readonly name: PresenceName
  /** When it was last present, milliseconds since 1970; `undefined`: never. */
  readonly lastMs: number | undefined
  /** The interval that is expected now. */
  readonly expected: ExpectedInterval | undefined
  /** At the end of a silence: it was present again. Otherwise nothing is expected of it any more. */
  readonly isBack: boolean
}

interface SilenceOptions {
  /** Called once for each change, by one of the nodes. It has to have reported the change when it returns. */
  readonly tell: (change: SilenceChange) => void
  readonly report?: TaskReport
  /** Milliseconds since 1970. */
  readonly clock?: () => number
  readonly everyMs?: number
}

export function watchSilence(storage: SilenceStorage, options: SilenceOptions): Worker {
  const { report = unreported, everyMs = checkEveryMs } = options
  const check = silenceCheck(storage, options)
  return startWorker({ task: 'watch_silence', report, retryMs: everyMs }, async (signal) => {
    await check(signal)
    return { waitMs: everyMs }
  })
}

/** One check, if this node has the turn. */
export function silenceCheck(
  storage: SilenceStorage,
  { tell, clock = Date.now }: SilenceOptions,
): (signal?: AbortSignal) => Promise<void> {
  const known = presenceStatuses(storage)
  return async (signal = new AbortController().signal) => {
    const turn = await storage.silence.takeTurn(clock())
    if (turn === undefined) return
    const parts: Check = { storage, turn, tell, clock, signal, known, seen: new Map() }
    await known.refresh()
    const minute = Math.floor(clock() / minuteMs)
    await gatherAsked(parts)
    await gatherPublished(parts, minute)
    const isDone = (await walk(parts)) && (await addNew(parts))
    if (isDone) await storage.silence.endTurn(turn, minute)
  }
}

interface Check {
  readonly storage: SilenceStorage
  readonly turn: SilenceTurn
  readonly tell: (change: SilenceChange) => void
  readonly clock: () => number
  readonly signal: AbortSignal
  readonly known: PresenceStatuses
  /** By the texts of their names; names with a row are removed. */
  readonly seen: Map<string, { readonly name: PresenceName; readonly seen: Seen }>
}

const minuteMs = 60_000
/** Notes of nodes come late if the store could not be reached. */
const lateMinutes = 10
/** A name without a row was present within this time, or is no longer present. */
const newWithinMs = 3_600_000
/** Rests in proportion to the duration of the last step, so that commits and reads come in between. */
const pausePerStep = 4

async function gatherAsked({ storage, seen, signal }: Check): Promise<void> {
  for (let after: LastAsked | undefined; !signal.aborted;) {
    const beganMs = performance.now()
    const page = await storage.silence.asked(after, presencesPerStep)
    for (const { keyId, name: part, askedMs } of page) {
      const name: PresenceName = { kind: 'consumer', keyId, name: part }
      const before = seen.get(presenceText(name))
      // The last time counts, over all feeds that it reads.
      if (before === undefined || before.seen.lastMs < askedMs) {
        seen.set(presenceText(name), { name, seen: seenAt(undefined, askedMs, 0) })
      }
    }
    after = page.at(-1)
    if (page.length < presencesPerStep) return
    await rest(beganMs, signal)
  }
}

/** The first time, from all days for which publications are kept. */
async function gatherPublished({ storage, seen, turn, signal }: Check, nowMinute: number): Promise<void> {
  const first = nowMinute - pauseDaysKept * 1_440
  // What was published before anybody checked also shows the pauses in it.
  const watchedMs = turn.minute === 0 ? 0 : turn.watchedMs
  for (let after = Math.max(turn.minute - lateMinutes, first); !signal.aborted;) {
    const beganMs = performance.now()
    const found = await storage.silence.publishedAfter(after, nowMinute)
    if (found === undefined) return
    for (const { tenantId, feed } of found.publishers) {
      const name: PresenceName = { kind: 'publisher', tenantId, feed }
      const before = seen.get(presenceText(name))?.seen
      seen.set(presenceText(name), { name, seen: seenAt(before, found.minute * minuteMs, watchedMs) })
    }
    after = found.minute
    await rest(beganMs, signal)
  }
}

/** False: the turn has ended, or the node is closing. */
async function walk(check: Check): Promise<boolean> {
  const { storage, seen, signal } = check
  for (let after: PresenceName | undefined; !signal.aborted;) {
    const beganMs = performance.now()
    const page = await storage.silence.presences(after, presencesPerStep)
    if (!(await checkSome(check, page))) return false
    for (const { name } of page) seen.delete(presenceText(name))
    after = page.at(-1)?.name
    if (page.length < presencesPerStep) return true
    await rest(beganMs, signal)
  }
  return false
}

/** Those without a row. */
async function addNew(check: Check): Promise<boolean> {
  const { seen, clock, known, signal } = check
  const fresh: Presence[] = []
  for (const { name, seen: times } of seen.values()) {
    if (name.kind === 'consumer' && times.lastMs < clock() - newWithinMs) continue
    if ((await known.of(name, clock())) === 'active') fresh.push(newPresence(name))
  }
  for (let from = 0; from < fresh.length && !signal.aborted; from += presencesPerStep) {
    const beganMs = performance.now()
    if (!(await checkSome(check, fresh.slice(from, from + presencesPerStep)))) return false
    await rest(beganMs, signal)
  }
  return !signal.aborted
}

/**
 * Looks at some and writes what has changed, reports it, and records that it was reported: so a node that ends in between repeats, and
 * loses nothing.
 */
async function checkSome(check: Check, presences: readonly Presence[]): Promise<boolean> {
  const { storage, turn, clock } = check
  const changed: Presence[] = []
  const over: PresenceName[] = []
  const untold: { readonly after: Presence; readonly isOver: boolean }[] = []
  for (const before of presences) {
    const { after, status, facts } = await decide(check, before)
    const isGoing = isOver(before, facts, status) || (await hasGoneOver(check, after, status))
    if (!after.isReported) untold.push({ after, isOver: isGoing })
    else if (isGoing) over.push(after.name)
    if (after !== before && !(after.isReported && isGoing)) changed.push(after)
  }
  if (changed.length + over.length > 0 && !(await storage.silence.put(turn, clock(), changed, over)))
    return false
  if (untold.length === 0) return true
  for (const { after } of untold) check.tell(changeOf(after, clock()))
  const reported = untold.filter((one) => !one.isOver).map(({ after }) => ({ ...after, isReported: true }))
  const ended = untold.filter((one) => one.isOver).map(({ after }) => after.name)
  return storage.silence.put(turn, clock(), reported, ended)
}

interface Decision {
  readonly after: Presence
  readonly status: PresenceStatus
  readonly facts: CheckFacts
}

async function decide({ seen, turn, clock, known }: Check, before: Presence): Promise<Decision> {
  const nowMs = clock()
  const facts = { seen: seen.get(presenceText(before.name))?.seen, watchedMs: turn.watchedMs, nowMs }
  const status = needsStatus(before, facts) ? await known.of(before.name, nowMs) : 'active'
  return { after: nextPresence(before, facts, status), status, facts }
}

/** A setting for a key that was rotated is expected of the key that replaced it. */
async function hasGoneOver(
  { storage, known }: Check,
  after: Presence,
  status: PresenceStatus,
): Promise<boolean> {
  const { name, expectation } = after
  if (name.kind !== 'consumer' || status !== 'ended' || expectation === undefined) return false
  const successor = known.successorOf(name.keyId)
  if (successor === undefined) return false
  const next: PresenceName = { ...name, keyId: successor }
  const [kept] = await storage.silence.find([next])
  if (kept?.expectation === undefined) await storage.silence.expect(next, expectation, 'service')
  return true
}

function changeOf(presence: Presence, nowMs: number): SilenceChange {
  const { name, lastMs, silentMs, activeMs } = presence
  const expected = expectedInterval(presence, nowMs)
  const isBack = silentMs === undefined && activeMs !== undefined && expected !== undefined
  return { change: silentMs === undefined ? 'ended' : 'began', name, lastMs, expected, isBack }
}

async function rest(beganMs: number, signal: AbortSignal): Promise<void> {
  await pause((performance.now() - beganMs) * pausePerStep, signal)
}
