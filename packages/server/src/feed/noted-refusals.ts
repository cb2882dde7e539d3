/** Requests of consumers that were refused, counted in memory. */
import type { ConsumerRefusal } from '../storage/storage.ts'

/** A request that was refused. */
export type RefusedRequest = Pick<ConsumerRefusal, 'keyId' | 'name' | 'tenantId' | 'code' | 'status'>

/** Beyond these nothing further is counted until the next addition. */
const mostRefusals = 50_000

export interface NotedRefusals {
  note(refused: RefusedRequest, nowMs: number): void
  take(): readonly ConsumerRefusal[]
  giveBack(refusals: readonly ConsumerRefusal[]): void
  dropped(): number
}

export function notedRefusals(): NotedRefusals {
  let refusals = new Map<string, ConsumerRefusal>()
  let dropped = 0
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
    note: (refused, nowMs) => put({ ...refused, sinceMs: nowMs, lastMs: nowMs, count: 1 }),
    take() {
      const taken = [...refusals.values()]
      refusals = new Map()
      return taken
    },
    giveBack: (given) => given.forEach(put),
    dropped: () => dropped,
  }
}
