/**
 * Publishers and readers of one feed side by side, what they wrote down, and a look through it all in linear time
 * (P1, P2, P3, D12). Knows nothing of engines, so that broken ones can be put in place of a right one.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { overtaken } from '../../store/support/order-log.ts'

/** What a reader sees of an event. */
export interface SeenEvent {
  readonly number: number
  readonly name: string
}

/** An event with all that is checked at the end. */
export interface KeptEvent extends SeenEvent {
  readonly subject: string
  /** Says whether the subject appeared with this event or changed. */
  readonly appeared: boolean
  /** Sortable text. */
  readonly created: string
}

export interface LoadTarget {
  /** Publishes one event; resolves with its number when it is acknowledged. */
  publish(name: string, subject: string): Promise<number>
  after(number: number): Promise<readonly SeenEvent[]>
  /** Milliseconds since 1970. */
  since(ms: number): Promise<readonly SeenEvent[]>
  all(): Promise<readonly KeptEvent[]>
}

/** One acknowledged publish. Times are nanoseconds of the machine's steady clock, which all processes share. */
export interface Publication {
  readonly name: string
  readonly number: number
  readonly started: number
  readonly ended: number
}

/** Shared by all publishers, so that each subject's first event is a race. */
const subjects = 60

export async function publishLoad(
  target: Pick<LoadTarget, 'publish'>,
  name: string,
  publishers: number,
  isOver: () => boolean,
): Promise<readonly Publication[]> {
  const log: Publication[] = []
  const publisher = async (prefix: string): Promise<void> => {
    for (let n = 0; !isOver(); n += 1) {
      const name = `${prefix}-${n}`
      const started = Number(process.hrtime.bigint())
      const number = await target.publish(name, `subject ${n % subjects}`)
      log.push({ name, number, started, ended: Number(process.hrtime.bigint()) })
    }
  }
  await Promise.all(Array.from({ length: publishers }, (_, n) => publisher(`${name}-${n}`)))
  return log
}

export interface Readings {
  /** For each reader that followed the numbers: what came, in the order it came. */
  readonly tails: readonly (readonly SeenEvent[])[]
  /** For each reader that asked by the time it last asked: the names it has seen. */
  readonly polls: readonly ReadonlySet<string>[]
}

/** Reads until `stop`, and once more after it. `targets` are used in turn. */
export async function readLoad(
  targets: readonly LoadTarget[],
  each: number,
  stop: AbortSignal,
): Promise<Readings> {
  const targetOf = (n: number): LoadTarget => {
    const target = targets[n % targets.length]
    if (target === undefined) throw new Error('no target')
    return target
  }
  const tail = async (target: LoadTarget): Promise<readonly SeenEvent[]> => {
    const seen: SeenEvent[] = []
    for (let last = false; ;) {
      const events = await target.after(seen.at(-1)?.number ?? 0)
      seen.push(...events)
      if (last && events.length === 0) return seen
      last = stop.aborted
      await delay(2)
    }
  }
  const poll = async (target: LoadTarget, pauseMs: number): Promise<ReadonlySet<string>> => {
    const seen = new Set<string>()
    let from = 0
    for (let last = false; ;) {
      const asked = Date.now()
      for (const { name } of await target.since(from)) seen.add(name)
      if (last) return seen
      from = asked
      last = stop.aborted
      await delay(pauseMs)
    }
  }
  const [tails, polls] = await Promise.all([
    Promise.all(Array.from({ length: each }, (_, n) => tail(targetOf(n)))),
    Promise.all(Array.from({ length: each }, (_, n) => poll(targetOf(n), 1 + n * 4))),
  ])
  return { tails, polls }
}

/** Everything that is not as promised, in words; at most a few of each kind. */
export function loadFaults(
  log: readonly Publication[],
  readings: Readings,
  kept: readonly KeptEvent[],
): readonly string[] {
  return [
    ...few(misplaced(kept)),
    ...few(unacknowledged(log, kept)),
    ...few(overtaken(log)),
    ...few(misderived(kept)),
    ...few(readings.tails.flatMap((tail, n) => missedByTail(tail, kept, n))),
    ...few(readings.polls.flatMap((seen, n) => missedByPoll(seen, kept, n))),
  ]
}

function few(faults: readonly string[]): readonly string[] {
  return faults.length > 3 ? [...faults.slice(0, 3), `… and ${faults.length - 3} more like it`] : faults
}

function misplaced(kept: readonly KeptEvent[]): readonly string[] {
  return kept.flatMap(({ number, created }, index) => {
    const before = kept[index - 1]
    return [
      ...(number === index + 1 ? [] : [`place ${index + 1} holds number ${number}`]),
      ...(before === undefined || before.created < created ? [] : [`the time of ${number} does not rise`]),
    ]
  })
}

function unacknowledged(log: readonly Publication[], kept: readonly KeptEvent[]): readonly string[] {
  const numbers = new Map(kept.map(({ name, number }) => [name, number]))
  const twice = numbers.size === kept.length ? [] : ['an event is there twice']
  const wrong = log.filter(({ name, number }) => numbers.get(name) !== number)
  return [
    ...twice,
    ...wrong.map(({ name, number }) => `${name} was acknowledged as ${number} and is ${numbers.get(name)}`),
  ]
}

/** A subject appears once, with its first event (D12). */
function misderived(kept: readonly KeptEvent[]): readonly string[] {
  const known = new Set<string>()
  return kept.flatMap(({ subject, appeared, number }) => {
    const isFirst = !known.has(subject)
    known.add(subject)
    return appeared === isFirst ? [] : [`${number} says that ${subject} ${appeared ? 'appeared' : 'changed'}`]
  })
}

function missedByTail(
  tail: readonly SeenEvent[],
  kept: readonly KeptEvent[],
  reader: number,
): readonly string[] {
  const seen = new Set(tail.map(({ name }) => name))
  const missed = kept.filter(({ name }) => !seen.has(name))
  return missed.map(({ number }) => `${number} appeared behind a reader by number (${reader})`)
}

function missedByPoll(
  seen: ReadonlySet<string>,
  kept: readonly KeptEvent[],
  reader: number,
): readonly string[] {
  const missed = kept.filter(({ name }) => !seen.has(name))
  return missed.map(({ number }) => `${number} appeared behind a reader by time (${reader})`)
}
