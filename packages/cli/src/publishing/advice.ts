/** Remarks of the service about events that it stored as they are: each is shown when it arrives, and they are summed up at the end. */
import type { RefusedEntry } from './read-entry.ts'

/** Advice is for a first look at a new source. */
const maxShown = 20
/** For programs, which sort it themselves. A file of doubtful payloads has as many remarks as lines. */
const maxListed = 1000

export interface AdviceList {
  /** Takes the advice in one answer, and returns the part of it to show. */
  add(advice: readonly RefusedEntry[]): readonly RefusedEntry[]
  /** The first 1,000. */
  listed(): readonly RefusedEntry[]
  /** How often each code came, at least: an answer reports only the first 100 of its events. */
  counts(): Readonly<Record<string, number>>
  /** What was not shown, as a sentence. */
  rest(): string | undefined
}

export function adviceList(): AdviceList {
  const listed: RefusedEntry[] = []
  const counts = new Map<string, number>()
  let total = 0
  return {
    add(advice) {
      const shown = advice.slice(0, Math.max(0, maxShown - total))
      total += advice.length
      for (const one of advice) {
        if (listed.length < maxListed) listed.push(one)
        counts.set(one.code, (counts.get(one.code) ?? 0) + 1)
      }
      return shown
    },
    listed: () => listed,
    counts: () => Object.fromEntries(counts),
    rest() {
      if (total <= maxShown) return undefined
      const codes = [...counts].toSorted(([, one], [, other]) => other - one)
      const words = codes.map(([code, count]) => `${code} ${count.toLocaleString('en-GB')}`).join(', ')
      const more = (total - maxShown).toLocaleString('en-GB')
      return `${more} more remarks are not shown. In all, with at most 100 for each request: ${words}. --json lists them.`
    },
  }
}
