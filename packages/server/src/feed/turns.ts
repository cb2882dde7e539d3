/**
 * Long work done in turns with everything else on the event loop. Reading a publication takes some 40 µs an event, so
 * without turns a request for a page waits 4 ms for each publication of a hundred events that came before it.
 */

export interface Turns {
  /**
   * Takes the steps one by one and resolves with their result, or rejects with their error. Runs that need less than 10
   * ms end in the order in which they began. A longer one leaves their line: from then on long runs share every second
   * turn, 5 ms each, so that the largest bodies at most double the wait of an ordinary publication.
   */
  run<T>(steps: Iterator<void, T>): Promise<T>
}

/** Many times as long as a step, and too short for a reader to notice. */
const turnMs = 1

/** A hundred events take 4 ms. */
const shortMs = 10

/**
 * How much of a long run is done before the next one: longer than it takes to bring its memory back into the
 * processor's cache.
 */
const shareMs = 5

interface Run {
  /** Takes steps until the run has ended (true) or the turn is over. */
  readonly proceed: () => boolean
  /** Time used since it was last at the end of its line. */
  usedMs: number
}

/** `clock`: milliseconds, never set back. */
export function createTurns(clock: () => number): Turns {
  const short: Run[] = []
  const long: Run[] = []
  let usedMs = 0
  let isLongTurn = false
  let nextTurn: NodeJS.Immediate | undefined

  function takeTurn(): void {
    nextTurn = undefined
    usedMs = 0
    isLongTurn = !isLongTurn && long.length > 0
    // One line can use the rest of the turn that the other leaves.
    for (const line of isLongTurn ? [long, short] : [short, long]) {
      while (line.length > 0 && proceed(line)) continue
    }
    if (short.length + long.length > 0) scheduleTurn()
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
    if (ended) return true
    run.usedMs = 0
    long.push(run)
    return false
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
    run(steps) {
      return new Promise((resolve, reject) => {
        const proceed = (): boolean => {
          try {
            const last = advance(steps)
            if (last?.done === true) resolve(last.value)
            return last !== undefined
          } catch (error) {
            reject(error)
            return true
          }
        }
        const beforeMs = usedMs
        if (short.length === 0 && proceed()) return
        short.push({ proceed, usedMs: usedMs - beforeMs })
        scheduleTurn()
      })
    },
  }
}
