/**
 * Long reads go in steps of a millisecond or so and take turns: in each turn of the event loop one of them takes one step, however many
 * there are. If each took a step in every turn, 200 snapshots would take 200 steps between two other requests.
 */
const waiting: (() => void)[] = []

/** Resolves when the next step may be taken, in the order of the calls, and in a later turn of the event loop. */
export function yieldForStep(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(takeTurn)
  })
}

function takeTurn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(takeTurn)
}
