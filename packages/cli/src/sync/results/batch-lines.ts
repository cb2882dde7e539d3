/** Lines that arrive over time, gathered into batches. */

export interface BatchLimits {
  readonly most: number
  readonly mostBytes: number
  /** A batch that is not full is sent after its first line has waited this long. */
  readonly waitMs: number
  /** Ends the reading; what has been gathered is the last batch. */
  readonly signal: AbortSignal
}

/** `bytesOf`: the size of a line. */
export async function* batchLines<Line>(
  lines: AsyncIterable<Line>,
  { most, mostBytes, waitMs, signal }: BatchLimits,
  bytesOf: (line: Line) => number,
): AsyncGenerator<readonly Line[]> {
  const iterator = lines[Symbol.asyncIterator]()
  const stopped = stopOf(signal)
  let gathered: Line[] = []
  let bytes = 0
  let clock = clockOf(Infinity)
  let next = iterator.next()
  // Once reading has ended, nobody handles its later rejection.
  next.catch(() => undefined)
  try {
    for (;;) {
      const arrived = await Promise.race([next, clock.over, stopped.over])
      const line = typeof arrived === 'string' || arrived.done === true ? undefined : arrived
      if (line !== undefined) {
        if (gathered.length === 0) clock = clockOf(waitMs)
        gathered.push(line.value)
        bytes += bytesOf(line.value)
        next = iterator.next()
        next.catch(() => undefined)
        if (gathered.length < most && bytes < mostBytes) continue
      }
      clock.stop()
      if (gathered.length > 0) yield gathered
      gathered = []
      bytes = 0
      clock = clockOf(Infinity)
      if (line === undefined && arrived !== 'waited') return
    }
  } finally {
    clock.stop()
    stopped.forget()
  }
}

function clockOf(ms: number): { readonly over: Promise<'waited'>; readonly stop: () => void } {
  if (ms === Infinity) return { over: new Promise(() => undefined), stop: () => undefined }
  const { promise: over, resolve } = Promise.withResolvers<'waited'>()
  const timer = setTimeout(() => resolve('waited'), ms)
  return { over, stop: () => clearTimeout(timer) }
}

function stopOf(signal: AbortSignal): { readonly over: Promise<'stopped'>; readonly forget: () => void } {
  const { promise: over, resolve } = Promise.withResolvers<'stopped'>()
  const stop = (): void => resolve('stopped')
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return { over, forget: () => signal.removeEventListener('abort', stop) }
}
