import { firstKeptMinute, hourOfMinute, joinMinutes, refusalsPerHour } from '../publication-store.ts'
import type { PublicationStore, PublishedMinuteName } from '../publication-store.ts'
import { openState } from './state.ts'
import type { MemoryStore } from './state.ts'

export function memoryPublications(store: MemoryStore): PublicationStore {
  return {
    async add(minutes, refusals) {
      const { publications } = openState(store)
      for (const minute of minutes) {
        const name = nameOf(minute)
        const kept = publications.get(name)
        publications.set(name, kept === undefined ? { ...minute, refusals: [] } : joinMinutes(kept, minute))
      }
      for (const refusal of refusals) {
        const kept = publications.get(nameOf(refusal))
        if (kept === undefined) throw new Error('the minute of a refusal is added with it')
        if (refusalsOf(store, refusal) >= refusalsPerHour) continue
        const all = [...kept.refusals, refusal].toSorted((a, b) => a.atMs - b.atMs)
        publications.set(nameOf(refusal), { ...kept, refusals: all })
      }
    },
    async list({ tenantId, keyId, fromMinute, toMinute, before, limit }) {
      return [...openState(store).publications.values()]
        .filter(({ key, minute }) => key.tenantId === tenantId && minute >= fromMinute && minute <= toMinute)
        .filter((one) => keyId === undefined || one.keyId === keyId)
        .toSorted((a, b) => compare(b, a))
        .filter((one) => before === undefined || compare(one, before) < 0)
        .slice(0, limit)
    },
    async refusedSince(from, limit) {
      return [...openState(store).publications.values()]
        .filter(({ minute }) => minute >= from)
        .toSorted((a, b) => b.minute - a.minute)
        .flatMap(({ refusals }) => refusals)
        .slice(0, limit)
        .map(({ key, keyId, atMs, code }) => ({ key, keyId, atMs, code }))
    },
    async age(nowMs) {
      const { publications } = openState(store)
      let removed = 0
      for (const [name, { minute }] of publications) {
        if (minute >= firstKeptMinute(nowMs)) continue
        publications.delete(name)
        removed += 1
      }
      return removed
    },
  }
}

/** The refusals that are kept for the key and hour. */
function refusalsOf(store: MemoryStore, { keyId, minute }: PublishedMinuteName): number {
  let count = 0
  for (const one of openState(store).publications.values()) {
    const isSame = one.keyId === keyId && hourOfMinute(one.minute) === hourOfMinute(minute)
    if (isSame) count += one.refusals.length
  }
  return count
}

function nameOf({ key, keyId, minute }: PublishedMinuteName): string {
  return `${key.tenantId} ${minute} ${key.feed} ${keyId}`
}

function compare(a: PublishedMinuteName, b: PublishedMinuteName): number {
  if (a.minute !== b.minute) return a.minute - b.minute
  const [one, other] = [a, b].map(({ key, keyId }) => `${key.feed === 'property' ? 1 : 2} ${keyId}`)
  return one === other ? 0 : (one ?? '') < (other ?? '') ? -1 : 1
}
