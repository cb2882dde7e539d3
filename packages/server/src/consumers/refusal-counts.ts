/** Requests of consumers that were refused, counted in memory. */
import { defaultConsumer, namedConsumersPerFeed } from './consumer.ts'
import type { ConsumerRefusal } from './consumer.ts'

/** A request that was refused. */
export type RefusedRequest = Pick<ConsumerRefusal, 'keyId' | 'name' | 'tenantId' | 'code' | 'status'>

/** Beyond these, nothing more is counted until the next addition. */
const mostRefusals = 50_000
/** The names of all keys together that are distinguished while this node runs: some 5 MB. */
const mostNames = 50_000

interface RefusalCounts {
  note(refused: RefusedRequest, nowMs: number): void
  take(): readonly ConsumerRefusal[]
  giveBack(refusals: readonly ConsumerRefusal[]): void
  dropped(): number
}

export function refusalCounts(): RefusalCounts {
  let refusals = new Map<string, ConsumerRefusal>()
  let dropped = 0
  const nameOf = knownNames()
  const put = (refusal: ConsumerRefusal): void => {
    const { keyId, name, tenantId = '', code } = refusal
    const text = [keyId, name, tenantId, code].join(' ')
    const before = refusals.get(text)
    if (before === undefined && refusals.size >= mostRefusals) dropped += 1
    else if (before === undefined) refusals.set(text, refusal)
    else {
      const [sinceMs, lastMs] = [
        Math.min(before.sinceMs, refusal.sinceMs),
        Math.max(before.lastMs, refusal.lastMs),
      ]
      refusals.set(text, { ...before, sinceMs, lastMs, count: before.count + refusal.count })
    }
  }
  return {
    note(refused, nowMs) {
      const name = nameOf(refused.keyId, refused.name)
      put({ ...refused, name, sinceMs: nowMs, lastMs: nowMs, count: 1 })
    },
    take() {
      const counts = [...refusals.values()]
      refusals = new Map()
      return counts
    },
    giveBack: (given) => given.forEach(put),
    dropped: () => dropped,
  }
}

/**
 * The name to note: that of the key itself, if the key has given too many. A refused request registers no consumer, and with another name
 * in each the table would grow without end.
 */
function knownNames(): (keyId: string, name: string) => string {
  const namesOfKey = new Map<string, Set<string>>()
  let names = 0
  return (keyId, name) => {
    if (name === defaultConsumer) return name
    const known = namesOfKey.get(keyId)
    if (known?.has(name) === true) return name
    if (names >= mostNames || (known?.size ?? 0) >= namedConsumersPerFeed) return defaultConsumer
    if (known === undefined) namesOfKey.set(keyId, new Set([name]))
    else known.add(name)
    names += 1
    return name
  }
}
