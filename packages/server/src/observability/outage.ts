/**
 * Logs something that fails again and again in two lines: one when the outage begins, and one when it is over, with the number of
 * failures and the duration. Failures in between are only counted.
 */
import type { Logger } from 'pino'

export interface Outage {
  /**
   * `work`: what must be seen to work before the outage is over. `error` and `fields` (which request, or which task) are logged for the
   * first failure only.
   */
  failed(work: OutageWork, error: unknown, fields: object): void
  /** This work has succeeded. The call costs nothing while there is no outage. */
  worked(work: OutageWork): void
  state(): OutageState
  /** Writes the last line of an outage that is not over yet. */
  close(): void
}

/** `writing`: a publication. `asking`: any other request to the store. */
export type OutageWork = 'asking' | 'writing'

export interface OutageState {
  readonly open: boolean
  /** Over all outages since the start. */
  readonly failures: number
}

export interface OutageOptions {
  readonly name: string
  /** For people, such as `the store does not answer`. */
  readonly what: string
  /** For people, such as `the store answers`. */
  readonly over: string
  readonly log: Logger
  /** The outage is over when nothing has failed for this long and everything that had failed was seen to work. */
  readonly quietMs: number
  /** The outage is over when nothing has failed for this long, even if no publication shows that publishing works again. */
  readonly longQuietMs: number
  /** Checks once a second during an outage whether `asking` works again; resolves when it does. */
  readonly probe?: () => Promise<unknown>
  /** The memory of the state, if other threads of the process share the outage. */
  readonly memory?: SharedArrayBuffer
  /** An outage with a single failure is logged in one line. */
  readonly onceInOneLine?: boolean
  readonly onOver?: () => void
  /** Milliseconds, never set back, the same in every thread. */
  readonly clock?: () => number
}

const words = ['open', 'failures', 'failuresBefore', 'asking', 'writing'] as const
const times = ['begun', 'lastFailed'] as const
const timesAt = 32

export function outageMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(timesAt + times.length * Float64Array.BYTES_PER_ELEMENT)
}

const lookEveryMs = 1_000

/** The first thread that meets an outage writes both of its lines. */
export function createOutage(options: OutageOptions): Outage {
  const { name, what, over, log, quietMs, longQuietMs, probe, clock = steadyClock } = options
  const memory = options.memory ?? outageMemory()
  const word = new Int32Array(memory, 0, words.length)
  const time = new Float64Array(memory, timesAt, times.length)
  const load = (of: (typeof words)[number]): number => Atomics.load(word, words.indexOf(of))
  const store = (of: (typeof words)[number], value: number): void =>
    void Atomics.store(word, words.indexOf(of), value)
  const openWord = words.indexOf('open')
  const [begun, lastFailed] = [times.indexOf('begun'), times.indexOf('lastFailed')]
  let watching: NodeJS.Timeout | undefined
  let probing = false

  const probeOnce = async (ask: () => Promise<unknown>): Promise<void> => {
    probing = true
    const failedMs = time[lastFailed]
    // A failure in the meantime proves that it does not work, just as an answer proves that it does.
    await ask().then(
      () => failedMs === time[lastFailed] && store('asking', 0),
      () => (time[lastFailed] = clock()),
    )
    probing = false
  }

  const end = (message: string): void => {
    clearInterval(watching)
    watching = undefined
    const failures = load('failures') - load('failuresBefore')
    const seconds = Math.round(((time[lastFailed] ?? 0) - (time[begun] ?? 0)) / 100) / 10
    Atomics.store(word, openWord, 0)
    options.onOver?.()
    if (options.onceInOneLine === true && failures === 1) return
    log.warn({ outage: name, failures, seconds }, message)
  }

  const look = (): void => {
    const quietForMs = clock() - (time[lastFailed] ?? 0)
    if (load('asking') === 1) {
      if (probe !== undefined && !probing) void probeOnce(probe)
      return
    }
    if (quietForMs >= (load('writing') === 1 ? longQuietMs : quietMs)) end(`outage is over: ${over}`)
  }

  return {
    failed(work, error, fields) {
      const nowMs = clock()
      time[lastFailed] = nowMs
      store(work, 1)
      // With a probe, the outage lasts until the probe has succeeded.
      if (probe !== undefined) store('asking', 1)
      const before = Atomics.add(word, words.indexOf('failures'), 1)
      if (Atomics.compareExchange(word, openWord, 0, 1) === 1) return
      time[begun] = nowMs
      store('failuresBefore', before)
      log.error({ outage: name, ...fields, err: error }, `outage begins: ${what}`)
      watching = setInterval(look, lookEveryMs)
      watching.unref()
    },
    worked(work) {
      if (Atomics.load(word, openWord) === 1) store(work, 0)
    },
    state: () => ({ open: load('open') === 1, failures: load('failures') }),
    close() {
      if (watching !== undefined) end(`outage is not over when the service stops: ${what}`)
    },
  }
}

function steadyClock(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
