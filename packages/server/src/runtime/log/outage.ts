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
type OutageWork = 'asking' | 'writing'

export interface OutageState {
  readonly open: boolean
  /** Over all outages since the start. */
  readonly failures: number
}

interface OutageOptions {
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
  /** An outage with a single failure is logged in one line. */
  readonly onceInOneLine?: boolean
  readonly onOver?: () => void
  /** Milliseconds, never set back. */
  readonly clock?: () => number
}

const checkEveryMs = 1_000

export function createOutage(options: OutageOptions): Outage {
  const { name, what, over, log, quietMs, longQuietMs, probe } = options
  const { clock = () => performance.now() } = options
  let isOpen = false
  let failures = 0
  let failuresBefore = 0
  let begunMs = 0
  let lastFailedMs = 0
  /** What has failed in this outage and was not seen to work since. */
  const broken = { asking: false, writing: false }
  let watching: NodeJS.Timeout | undefined
  let probing = false

  const probeOnce = async (ask: () => Promise<unknown>): Promise<void> => {
    probing = true
    const failedMs = lastFailedMs
    // A failure in the meantime proves that it does not work, just as an answer proves that it does.
    try {
      await ask()
      if (failedMs === lastFailedMs) broken.asking = false
    } catch {
      lastFailedMs = clock()
    }
    probing = false
  }

  const end = (message: string): void => {
    clearInterval(watching)
    watching = undefined
    const inAll = failures - failuresBefore
    const seconds = Math.round((lastFailedMs - begunMs) / 100) / 10
    isOpen = false
    options.onOver?.()
    if (options.onceInOneLine === true && inAll === 1) return
    log.warn({ outage: name, failures: inAll, seconds }, message)
  }

  const check = (): void => {
    const quietForMs = clock() - lastFailedMs
    if (broken.asking) {
      if (probe !== undefined && !probing) void probeOnce(probe)
      return
    }
    if (quietForMs >= (broken.writing ? longQuietMs : quietMs)) end(`outage is over: ${over}`)
  }

  return {
    failed(work, error, fields) {
      const nowMs = clock()
      lastFailedMs = nowMs
      broken[work] = true
      // With a probe, the outage lasts until the probe has succeeded.
      if (probe !== undefined) broken.asking = true
      failures += 1
      if (isOpen) return
      isOpen = true
      begunMs = nowMs
      failuresBefore = failures - 1
      log.error({ outage: name, ...fields, err: error }, `outage begins: ${what}`)
      watching = setInterval(check, checkEveryMs).unref()
    },
    worked(work) {
      broken[work] = false
    },
    state: () => ({ open: isOpen, failures }),
    close() {
      if (watching !== undefined) end(`outage is not over when the service stops: ${what}`)
    },
  }
}
