import { constants } from 'node:os'

/** Exit code of a command that a signal stopped before its work was done. */
export const interruptedExitCode = 130

const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

export interface StopListener extends Disposable {
  /** Aborted by the first of the signals, with its name as the `reason`. */
  readonly signal: AbortSignal
  /** The exit code that a shell reports for a process that the signal ended: 130 after SIGINT, 143 after SIGTERM. */
  readonly exitCode: number
}

/** Until it is disposed of, SIGTERM, SIGINT and SIGHUP abort; a second one ends the process at once. */
export function listenForStop(): StopListener {
  const controller = new AbortController()
  const listeners = stopSignals.map((name) => {
    const listener = () => {
      if (controller.signal.aborted) process.exit(exitCodeAfter(name))
      controller.abort(name)
    }
    process.on(name, listener)
    return [name, listener] as const
  })
  return {
    signal: controller.signal,
    get exitCode() {
      const name = stopSignals.find((one) => one === controller.signal.reason)
      return name === undefined ? 0 : exitCodeAfter(name)
    },
    [Symbol.dispose]() {
      for (const [name, listener] of listeners) process.off(name, listener)
    },
  }
}

/** The same for as long as the process lives. */
export function stopSignal(): AbortSignal {
  return listenForStop().signal
}

function exitCodeAfter(name: (typeof stopSignals)[number]): number {
  return 128 + constants.signals[name]
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
