/**
 * How often each key requested what, and with how many bytes it was answered, counted in memory (PROTOCOL §14). A request costs one
 * look-up in a map and two additions if it is like the key's last one, and two more look-ups if it is not. Counters are made with the
 * first request of their kind, and reused as long as such requests come.
 */
import { addInParts } from '../sql/add-in-parts.ts'
import type { WriteBuffer } from '../runtime/write-buffer.ts'
import { usagePerCommit } from './usage.ts'
import type { UsageCount, UsageStore } from './usage.ts'

export interface UsageCounts extends WriteBuffer {
  /** One answer. `operation`: its `operationId`. */
  count(keyId: string, operation: string, status: number, bytes: number): void
}

interface Counter {
  requests: number
  bytes: number
}

/**
 * A double for V8 from the start. When the bytes outgrew a small integer, the object got another form, and what had made it was compiled
 * again and again, in vain ("maps became deprecated"): a page of 100 in gzip took 53 µs in place of 33, for as long as the service ran.
 */
const noBytes = -0

interface KeyCounters {
  readonly operations: Map<string, Map<number, Counter>>
  /** The last request that was counted: most keys make the same one again and again. */
  last: { readonly operation: string; readonly status: number; readonly counter: Counter } | undefined
}

const hourMs = 3_600_000

/** `clock`: milliseconds since 1970. */
export function countUsage(store: Pick<UsageStore, 'add'>, clock: () => number = Date.now): UsageCounts {
  /** Of this hour. */
  const keys = new Map<string, KeyCounters>()
  let hour = Math.floor(clock() / hourMs)
  /** Of hours that have ended, and counts that could not be added. */
  const earlier = new Map<string, UsageCount>()

  function setAside(): void {
    for (const count of takeCounters(keys, hour)) addTo(earlier, count)
  }

  return {
    count(keyId, operation, status, bytes) {
      const now = Math.floor(clock() / hourMs)
      if (now !== hour) {
        setAside()
        hour = now
      }
      const counter = counterOf(keys, keyId, operation, status)
      counter.requests += 1
      counter.bytes += bytes
    },
    async flush(rest) {
      setAside()
      // In the order of the store's key, so that rows that are close together are added together.
      const counts = [...earlier.values()].toSorted(compare)
      earlier.clear()
      const left = await addInParts(counts, usagePerCommit, (some) => store.add(some), rest)
      if (left === undefined) return
      for (const count of left.rows) addTo(earlier, count)
      throw left.failure
    },
  }
}

function counterOf(
  keys: Map<string, KeyCounters>,
  keyId: string,
  operation: string,
  status: number,
): Counter {
  let ofKey = keys.get(keyId)
  if (ofKey === undefined) keys.set(keyId, (ofKey = { operations: new Map(), last: undefined }))
  const { operations, last } = ofKey
  if (last?.operation === operation && last.status === status) return last.counter
  let statuses = operations.get(operation)
  if (statuses === undefined) operations.set(operation, (statuses = new Map()))
  let counter = statuses.get(status)
  if (counter === undefined) statuses.set(status, (counter = { requests: 0, bytes: noBytes }))
  ofKey.last = { operation, status, counter }
  return counter
}

/** Returns the counts and resets them. Counters without a count since the last time are dropped. */
function takeCounters(keys: Map<string, KeyCounters>, hour: number): readonly UsageCount[] {
  const counts: UsageCount[] = []
  for (const [keyId, ofKey] of keys) {
    const { operations } = ofKey
    // It may be dropped here.
    ofKey.last = undefined
    for (const [operation, statuses] of operations) {
      for (const [status, counter] of statuses) {
        if (counter.requests === 0) statuses.delete(status)
        else counts.push({ keyId, hour, operation, status, ...counter })
        counter.requests = 0
        counter.bytes = 0
      }
      if (statuses.size === 0) operations.delete(operation)
    }
    if (operations.size === 0) keys.delete(keyId)
  }
  return counts
}

function addTo(counts: Map<string, UsageCount>, count: UsageCount): void {
  const name = `${count.hour} ${count.keyId} ${count.operation} ${count.status}`
  const before = counts.get(name)
  if (before === undefined) counts.set(name, count)
  else {
    const [requests, bytes] = [before.requests + count.requests, before.bytes + count.bytes]
    counts.set(name, { ...count, requests, bytes })
  }
}

function compare(a: UsageCount, b: UsageCount): number {
  if (a.hour !== b.hour) return a.hour - b.hour
  if (a.keyId !== b.keyId) return a.keyId < b.keyId ? -1 : 1
  if (a.operation !== b.operation) return a.operation < b.operation ? -1 : 1
  return a.status - b.status
}
