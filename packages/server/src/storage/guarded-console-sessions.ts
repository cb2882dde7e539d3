/** Sessions of the console, with a guard (guarded-verbs.ts). */
import type { ConsoleSessionStore } from './console-session-store.ts'
import type { Guard, Unguarded } from './guarded-verbs.ts'

export function guardedConsoleSessions(
  verbs: Unguarded<ConsoleSessionStore>,
  guard: Guard,
): ConsoleSessionStore {
  return {
    addLink: (link) => guard(() => verbs.addLink(link)),
    spendLink: (linkHash, nowMs) => guard(() => verbs.spendLink(linkHash, nowMs)),
    begin: (session, origin, actor) => guard(() => verbs.begin(session, origin, actor)),
    find: (cookieHash) => guard(() => verbs.find(cookieHash)),
    use: (cookieHash, usedMs) => guard(() => verbs.use(cookieHash, usedMs)),
    end: (cookieHash) => guard(() => verbs.end(cookieHash)),
    age: (nowMs, unusedSinceMs) => guard(() => verbs.age(nowMs, unusedSinceMs)),
  }
}
