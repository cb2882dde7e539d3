/**
 * Long work done in turns with everything else on the event loop. Reading a publication takes some 40 µs an event, so without
 * turns whoever asks for a page waits 4 ms behind a hundred events, and behind each further publication that has come.
 */

export interface Turns {
  /**
   * Takes the steps one by one and resolves with what they return, or rejects with what they throw. What comes while others
   * wait goes behind them, so runs end in the order they came in.
   */
  run<T>(steps: Iterator<void, T>): Promise<T>
}

/** Many times a step, and short beside what a reader notices. */
const turnMs = 1

/** `clock`: milliseconds, never set back. */
export function createTurns(clock: () => number): Turns {
  /** Each takes steps until its run has ended (true) or the turn is over. */
  const waiting: (() => boolean)[] = []
  let usedMs = 0
  let nextTurn: NodeJS.Immediate | undefined

  function takeTurn(): void {
    nextTurn = undefined
    usedMs = 0
    while (waiting[0]?.() === true) waiting.shift()
    if (waiting.length > 0) scheduleTurn()
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
        if (proceed()) return
        waiting.push(proceed)
        scheduleTurn()
      })
    },
  }
}
