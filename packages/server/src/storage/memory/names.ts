import { actorNamed, nameErased } from '../audit-changes.ts'
import type { NameStore } from '../name-store.ts'
import { noteChanges } from './audit.ts'
import { openState } from './state.ts'
import type { MemoryStore } from './state.ts'

export function memoryNames(store: MemoryStore): NameStore {
  return {
    async set({ actor, name }, by) {
      const { names } = openState(store)
      if (names.get(actor) === name) return
      names.set(actor, name)
      noteChanges(store, actorNamed(actor), by)
    },
    async erase(actor, by) {
      if (!openState(store).names.delete(actor)) return 'unknown'
      noteChanges(store, nameErased(actor), by)
      return 'erased'
    },
    async of(actors) {
      const { names } = openState(store)
      return new Map([...names].filter(([actor]) => actors.includes(actor)))
    },
    async list() {
      const names = [...openState(store).names].map(([actor, name]) => ({ actor, name }))
      return names.sort((a, b) => (a.actor < b.actor ? -1 : 1))
    },
  }
}
