/**
 * When the senders of a node go on: in the order in which they asked, a few in each turn of the event loop, however often one asks. Answers
 * come in between, and what hangs holds nobody. When each went on at once, a thousand endpoints with a backlog had four thousand messages
 * in memory together, and collecting what was left of them took more of the processor than sending.
 */

/** With four messages each, some 5 ms. */
const sendersAtOnce = 16

/** `work`: the same function each time, so that it is called once. */
export type TakeTurn = (work: () => void) => void

export function senderTurns(): TakeTurn {
  const waiting = new Set<() => void>()
  let isComing = false

  function come(): void {
    if (isComing || waiting.size === 0) return
    isComing = true
    setImmediate(turn)
  }

  function turn(): void {
    isComing = false
    const first = waiting.values().take(sendersAtOnce).toArray()
    for (const work of first) waiting.delete(work)
    for (const work of first) work()
    come()
  }

  return (work) => {
    waiting.add(work)
    come()
  }
}
