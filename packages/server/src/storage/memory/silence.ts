/** Silence of publishers and consumers. */
import {
  intervalExpected,
  newPresence,
  nextTurn,
  presenceText,
  setConsumersPerKey,
} from '../silence-store.ts'
import type { LastAsked, Presence, SilenceStore } from '../silence-store.ts'
import { noteChanges } from './audit.ts'
import { openState } from './state.ts'
import type { MemoryStore } from './state.ts'

export function memorySilence(store: MemoryStore): SilenceStore {
  return { ...turns(store), ...lastSeen(store), ...presenceReads(store), expect: expecter(store) }
}

function turns(store: MemoryStore): Pick<SilenceStore, 'takeTurn' | 'put' | 'endTurn'> {
  return {
    async takeTurn(nowMs) {
      const state = openState(store)
      const taken = nextTurn(state.silenceTurn, nowMs)
      if (taken === undefined) return undefined
      state.silenceTurn = taken
      return taken
    },
    async put(turn, nowMs, presences, removed) {
      const state = openState(store)
      if (state.silenceTurn.number !== turn.number) return false
      state.silenceTurn = { ...state.silenceTurn, lookedMs: Math.max(state.silenceTurn.lookedMs, nowMs) }
      for (const presence of presences) {
        const text = presenceText(presence.name)
        const { expectation } = state.presences.get(text) ?? newPresence(presence.name)
        state.presences.set(text, { ...presence, expectation })
      }
      for (const name of removed) state.presences.delete(presenceText(name))
      return true
    },
    async endTurn({ number }, minute) {
      const state = openState(store)
      if (state.silenceTurn.number === number) state.silenceTurn = { ...state.silenceTurn, minute }
    },
  }
}

function lastSeen(store: MemoryStore): Pick<SilenceStore, 'asked' | 'publishedAfter' | 'replacedKeys'> {
  return {
    async asked(after, limit) {
      const from = after === undefined ? '' : askedText(after)
      return askedOf(store)
        .filter((one) => askedText(one) > from)
        .slice(0, limit)
    },
    async publishedAfter(minute, toMinute) {
      const taken = [...openState(store).publications.values()].filter(
        (one) => one.minute > minute && one.minute <= toMinute && one.requests > one.refused,
      )
      if (taken.length === 0) return undefined
      const first = Math.min(...taken.map((one) => one.minute))
      const keys = taken.filter((one) => one.minute === first).map(({ key }) => key)
      const byName = new Map(keys.map(({ tenantId, feed }) => [`${tenantId} ${feed}`, { tenantId, feed }]))
      return { minute: first, publishers: [...byName.values()] }
    },
    async replacedKeys() {
      return [...openState(store).keys.values()].flatMap(({ keyId: by, replaces: keyId }) =>
        keyId === undefined ? [] : [{ keyId, by }],
      )
    },
  }
}

function presenceReads(
  store: MemoryStore,
): Pick<SilenceStore, 'presences' | 'find' | 'ofKeys' | 'silent' | 'countSilent'> {
  const sorted = (): readonly Presence[] =>
    [...openState(store).presences.values()].toSorted((a, b) =>
      compare(presenceText(a.name), presenceText(b.name)),
    )
  const silent = (): readonly Presence[] => sorted().filter(({ silentMs }) => silentMs !== undefined)
  return {
    async presences(after, limit) {
      const from = after === undefined ? '' : presenceText(after)
      return sorted()
        .filter(({ name }) => presenceText(name) > from)
        .slice(0, limit)
    },
    async find(names) {
      const { presences } = openState(store)
      return names.flatMap((name) => presences.get(presenceText(name)) ?? [])
    },
    ofKeys: async (keyIds) =>
      sorted().filter(({ name }) => name.kind === 'consumer' && keyIds.includes(name.keyId)),
    silent: async (limit) =>
      silent()
        .toSorted((a, b) => (a.silentMs ?? 0) - (b.silentMs ?? 0))
        .slice(0, limit),
    async countSilent() {
      const publishers = silent().filter(({ name }) => name.kind === 'publisher').length
      return { publishers, consumers: silent().length - publishers }
    },
  }
}

function expecter(store: MemoryStore): SilenceStore['expect'] {
  return async (name, expectation, actor) => {
    const { keys, presences, tenants } = openState(store)
    const key = name.kind === 'consumer' ? keys.get(name.keyId) : undefined
    if (name.kind === 'consumer' && key === undefined) return 'unknownKey'
    if (name.kind === 'publisher' && !tenants.has(name.tenantId)) return 'unknownTenant'
    const before = presences.get(presenceText(name)) ?? newPresence(name)
    if (before.expectation === expectation) return 'done'
    const isMore = before.expectation === undefined && key !== undefined
    if (isMore && setOf(store, key.keyId) >= setConsumersPerKey) return 'tooMany'
    presences.set(presenceText(name), { ...before, expectation })
    const keyTenants = (key?.grants ?? []).map(({ tenantId }) => tenantId)
    noteChanges(store, intervalExpected(name, expectation, keyTenants), actor)
    return 'done'
  }
}

/** The number of the key's consumers that have a setting. */
function setOf(store: MemoryStore, keyId: string): number {
  const isSet = ({ name, expectation }: Presence): boolean =>
    name.kind === 'consumer' && name.keyId === keyId && expectation !== undefined
  return [...openState(store).presences.values()].filter(isSet).length
}

/** Each consumer of a feed once, in order of their texts. */
function askedOf(store: MemoryStore): readonly LastAsked[] {
  const byName = new Map<string, LastAsked>()
  for (const { key, keyId, name, askedMs } of openState(store).readings.values()) {
    const one = { ...key, keyId, name, askedMs }
    const before = byName.get(askedText(one))
    byName.set(askedText(one), { ...one, askedMs: Math.max(askedMs, before?.askedMs ?? 0) })
  }
  return [...byName.entries()].toSorted(([a], [b]) => compare(a, b)).map(([, one]) => one)
}

function askedText({ tenantId, feed, keyId, name }: LastAsked): string {
  return `${tenantId} ${feed} ${keyId} ${name}`
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
