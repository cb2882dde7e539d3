import { sessionBegun } from '../audit-changes.ts'
import { sessionsPerKey, sessionsPerStep } from '../console-session-store.ts'
import type { ConsoleSessionStore } from '../console-session-store.ts'
import { noteChanges } from './audit.ts'
import { openState } from './state.ts'
import type { MemoryStore } from './state.ts'

export function memoryConsoleSessions(store: MemoryStore): ConsoleSessionStore {
  const { links, sessions } = store
  return {
    async addLink(link) {
      openState(store)
      links.set(link.linkHash, link)
    },
    async spendLink(linkHash, nowMs) {
      openState(store)
      const link = links.get(linkHash)
      links.delete(linkHash)
      return link !== undefined && nowMs < link.expiresMs ? link.keyId : undefined
    },
    async begin(session, { by, tenantIds }, actor) {
      openState(store)
      const ofKey = [...sessions.values()]
        .filter(({ keyId }) => keyId === session.keyId)
        .toSorted((a, b) => b.usedMs - a.usedMs || (a.cookieHash < b.cookieHash ? -1 : 1))
      for (const { cookieHash } of ofKey.slice(sessionsPerKey - 1)) sessions.delete(cookieHash)
      sessions.set(session.cookieHash, session)
      noteChanges(store, sessionBegun(session.keyId, tenantIds, by), actor)
    },
    async find(cookieHash) {
      openState(store)
      return sessions.get(cookieHash)
    },
    async use(cookieHash, usedMs) {
      openState(store)
      const session = sessions.get(cookieHash)
      if (session !== undefined && session.usedMs < usedMs) sessions.set(cookieHash, { ...session, usedMs })
    },
    async end(cookieHash) {
      openState(store)
      sessions.delete(cookieHash)
    },
    async age(nowMs, unusedSinceMs) {
      openState(store)
      const goneLinks = [...links.values()]
        .filter(({ expiresMs }) => expiresMs <= nowMs)
        .slice(0, sessionsPerStep)
      const gone = [...sessions.values()]
        .filter(({ endsMs, usedMs }) => endsMs <= nowMs || usedMs < unusedSinceMs)
        .slice(0, sessionsPerStep)
      for (const { linkHash } of goneLinks) links.delete(linkHash)
      for (const { cookieHash } of gone) sessions.delete(cookieHash)
      return goneLinks.length + gone.length
    },
  }
}
