/** A log of publishes and of what readers saw meanwhile, and a look through it in linear time (P1, P2). */

/** All that ordering is about, so that a broken feed for the test of this test stays small. */
export interface OrderedFeed {
  /** Publishes one event; resolves with its number when it is acknowledged. */
  publish(name: string): Promise<number>
  /** The numbers readers can see now, ascending. */
  visible(): Promise<readonly number[]>
}

interface Publication {
  readonly started: number
  readonly ended: number
  readonly number: number
}

/** Runs publishers and readers side by side and returns, in words, every breach of order. */
export async function orderFaults(feeds: readonly OrderedFeed[], each: number): Promise<readonly string[]> {
  const log: Publication[] = []
  const faults: string[] = []
  const stop = new AbortController()
  // One counter orders all beginnings and ends: the machine's clock is too coarse for it.
  let moment = 0

  const publisher = async (feed: OrderedFeed, name: string): Promise<void> => {
    for (let n = 0; n < each; n += 1) {
      const started = (moment += 1)
      const number = await feed.publish(`${name} ${n}`)
      log.push({ started, ended: (moment += 1), number })
    }
  }
  const reader = async (feed: OrderedFeed): Promise<void> => {
    let before: readonly number[] = []
    while (!stop.signal.aborted) {
      const now = await feed.visible()
      const highest = before.at(-1) ?? 0
      const seen = new Set(before)
      for (const number of now) {
        if (number <= highest && !seen.has(number)) faults.push(`${number} appeared behind ${highest}`)
      }
      before = now
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }

  const readers = feeds.map(reader)
  const publishers = feeds.flatMap((feed, index) => [0, 1, 2, 3].map((n) => publisher(feed, `${index} ${n}`)))
  await Promise.all(publishers)
  stop.abort()
  await Promise.all(readers)
  return [...faults, ...disorder(log)]
}

function disorder(log: readonly Publication[]): readonly string[] {
  const faults: string[] = []
  const numbers = log.map(({ number }) => number).toSorted((a, b) => a - b)
  for (const [index, number] of numbers.entries()) {
    if (number !== index + 1) faults.push(`the number at place ${index + 1} is ${number}`)
  }
  return [...faults, ...overtaken(log)]
}

/** Who began after an acknowledgement must have a greater number (P1). Beginnings and ends on one clock or counter. */
export function overtaken(log: readonly Publication[]): readonly string[] {
  const faults: string[] = []
  const byStart = log.toSorted((a, b) => a.started - b.started)
  const byEnd = log.toSorted((a, b) => a.ended - b.ended)
  let acknowledged = 0
  let next = 0
  for (const { started, number } of byStart) {
    for (let done = byEnd[next]; done !== undefined && done.ended < started; done = byEnd[next]) {
      acknowledged = Math.max(acknowledged, done.number)
      next += 1
    }
    if (number < acknowledged) faults.push(`${number} began after ${acknowledged} was acknowledged`)
  }
  return faults
}
