/**
 * Long work in turns with everything else on the event loop. Reading a publication takes some 40 µs per event, so without turns a request
 * for a page waits 4 ms for each publication of a hundred events that came before it.
 */

interface Scheduler {
  /**
   * Takes the steps one by one and resolves with their result, or rejects with their error. Returns the result at once if no other run
   * waits and it is there within the turn. Runs that need less than 10 ms end in the order in which they began. A longer one leaves their
   * line: from then on long runs share every second turn, 5 ms each, so that the largest bodies at most double the wait of an ordinary
   * publication.
   *
   * `bytes`: what the run reads, which is in memory a second time when it has ended. Long runs take turns as long as they have at most 32
   * MiB together; the others wait, and the earliest and the smallest follow alternately.
   */
  run<T>(steps: Iterator<void, T>, bytes?: number): T | Promise<T>
}

/** Many times as long as a step, and too short for a reader to notice. */
const turnMs = 1

/** A hundred events take 4 ms. */
const shortMs = 10

/** How much of a long run is done before the next one: longer than it takes to bring its memory back into the processor's cache. */
const shareMs = 5

/** Two of the largest bodies. Sixteen that were read in turns needed as much memory again, until the first of them was read. */
const mostLongBytes = 32 * 2 ** 20

interface Run {
  /** Takes steps until the run has ended (true) or the turn is over. */
  readonly proceed: () => boolean
  readonly bytes: number
  /** Time used since it was last at the end of its line. */
  usedMs: number
}

/** `clock`: milliseconds, never set back. */
export function createScheduler(clock: () => number): Scheduler {
  const short: Run[] = []
  const long = longRuns()
  let usedMs = 0
  let isLongTurn = false
  let nextTurn: NodeJS.Immediate | undefined

  function takeTurn(): void {
    nextTurn = undefined
    usedMs = 0
    isLongTurn = !isLongTurn && long.line.length > 0
    // One line can use the rest of the turn that the other leaves.
    for (const line of isLongTurn ? [long.line, short] : [short, long.line]) {
      while (line.length > 0 && proceed(line)) continue
    }
    if (short.length + long.line.length > 0) scheduleTurn()
  }

  /** False: the turn is over. */
  function proceed(line: Run[]): boolean {
    const [run] = line
    if (run === undefined || usedMs >= turnMs) return false
    const beforeMs = usedMs
    const ended = run.proceed()
    run.usedMs += usedMs - beforeMs
    if (!ended && run.usedMs < (line === short ? shortMs : shareMs)) return false
    line.shift()
    run.usedMs = 0
    if (line === short && !ended) long.enter(run)
    else if (line !== short && ended) long.leave(run)
    else if (!ended) line.push(run)
    return ended
  }

  function scheduleTurn(): void {
    nextTurn ??= setImmediate(takeTurn)
  }

  function advance<T>(steps: Iterator<void, T>): IteratorResult<void, T> | undefined {
    const [startMs, usedBeforeMs] = [clock(), usedMs]
    while (usedMs < turnMs) {
      const step = steps.next()
      usedMs = usedBeforeMs + clock() - startMs
      if (step.done === true) return step
    }
    return undefined
  }

  return {
    run(steps, bytes = 0) {
      const { proceed, result } = runOf(() => advance(steps))
      const beforeMs = usedMs
      if (short.length === 0 && proceed()) return result()
      short.push({ proceed, bytes, usedMs: usedMs - beforeMs })
      scheduleTurn()
      return result()
    },
  }
}

/** `result`: the value once the run has ended, otherwise a promise for it; of an error always a promise. */
function runOf<T>(advance: () => IteratorResult<void, T> | undefined) {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  let last: IteratorReturnResult<T> | undefined
  const proceed: Run['proceed'] = () => {
    try {
      const step = advance()
      if (step?.done === true) {
        last = step
        resolve(step.value)
      }
      return step !== undefined
    } catch (error) {
      reject(error)
      return true
    }
  }
  return { proceed, result: (): T | Promise<T> => (last === undefined ? promise : last.value) }
}

/** Runs that have left the line of short ones. */
function longRuns() {
  /** Those that take turns. While any wait, there is one of them. */
  const line: Run[] = []
  /** In the order in which they came. */
  const waiting: Run[] = []
  let bytes = 0
  let isFirstNext = true

  const begin = (run: Run): void => {
    bytes += run.bytes
    line.push(run)
  }
  const hasRoom = (run: Run): boolean => line.length === 0 || bytes + run.bytes <= mostLongBytes

  return {
    line,
    enter(run: Run): void {
      if (waiting.length === 0 && hasRoom(run)) begin(run)
      else waiting.push(run)
    },
    /** The run has ended, and leaves the line. */
    leave(run: Run): void {
      bytes -= run.bytes
      for (;;) {
        const next = isFirstNext ? waiting[0] : smallest(waiting)
        if (next === undefined || !hasRoom(next)) return
        waiting.splice(waiting.indexOf(next), 1)
        isFirstNext = !isFirstNext
        begin(next)
      }
    },
  }
}

function smallest(runs: readonly Run[]): Run | undefined {
  return runs.reduce<Run | undefined>(
    (least, run) => (least === undefined || run.bytes < least.bytes ? run : least),
    undefined,
  )
}
