import { isJoined, isKept } from '../storage.ts'
import type { Moment, MomentName, MomentStore } from '../storage.ts'
import { openState } from './state.ts'
import type { MemoryStore } from './state.ts'

export function memoryMoments(store: MemoryStore): MomentStore {
  return {
    async fix(request) {
      const { moments } = openState(store)
      const { name, now } = request
      for (const [held, moment] of moments) if (!isKept(moment, now.fixedMs)) moments.delete(held)
      const kept = moments.get(textOf(name))
      if (kept !== undefined && isJoined(kept, request)) return kept
      const moment: Moment = { ...now, usedMs: now.fixedMs }
      moments.set(textOf(name), moment)
      return moment
    },
    find: async (name) => openState(store).moments.get(textOf(name)),
    async noteUse(name, { fixedMs }, usedMs) {
      const { moments } = openState(store)
      const moment = moments.get(textOf(name))
      if (moment?.fixedMs === fixedMs) moments.set(textOf(name), { ...moment, usedMs })
    },
  }
}

function textOf({ keyId, key, view }: MomentName): string {
  return [keyId, key.tenantId, key.feed, view].join(' ')
}
