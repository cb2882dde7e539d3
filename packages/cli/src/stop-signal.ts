/** Exit code of a command that a signal stopped before its work was done. */
export const interruptedExitCode = 130

/**
 * Aborted by the first SIGTERM, SIGINT or SIGHUP, with its name as the `reason`; a second one ends the process at once.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController()
  for (const [name, number] of [
    ['SIGTERM', 15],
    ['SIGINT', 2],
    ['SIGHUP', 1],
  ] as const) {
    process.on(name, () => {
      // The exit code that a shell reports for a process that a signal ended.
      if (controller.signal.aborted) process.exit(128 + number)
      controller.abort(name)
    })
  }
  return controller.signal
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
