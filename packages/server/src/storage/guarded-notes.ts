/** The guards of what is noted about requests, like those of the other parts in `guarded-verbs.ts`. */
import type { Guard, Unguarded } from './guarded-verbs.ts'
import type { PublicationStore, SilenceStore } from './storage.ts'

export function guardedPublications(verbs: Unguarded<PublicationStore>, guard: Guard): PublicationStore {
  return {
    add: (minutes, refusals) => guard(() => verbs.add(minutes, refusals)),
    list: (query) => guard(() => verbs.list(query)),
    refusedSince: (minute, limit) => guard(() => verbs.refusedSince(minute, limit)),
    age: (nowMs) => guard(() => verbs.age(nowMs)),
  }
}

export function guardedSilence(verbs: Unguarded<SilenceStore>, guard: Guard): SilenceStore {
  return {
    takeTurn: (nowMs) => guard(() => verbs.takeTurn(nowMs)),
    asked: (after, limit) => guard(() => verbs.asked(after, limit)),
    publishedAfter: (minute, toMinute) => guard(() => verbs.publishedAfter(minute, toMinute)),
    presences: (after, limit) => guard(() => verbs.presences(after, limit)),
    find: (names) => guard(() => verbs.find(names)),
    ofKeys: (keyIds) => guard(() => verbs.ofKeys(keyIds)),
    put: (turn, nowMs, presences, removed) => guard(() => verbs.put(turn, nowMs, presences, removed)),
    endTurn: (turn, minute) => guard(() => verbs.endTurn(turn, minute)),
    silent: (limit) => guard(() => verbs.silent(limit)),
    countSilent: () => guard(() => verbs.countSilent()),
    replacedKeys: () => guard(() => verbs.replacedKeys()),
    expect: (name, expectation, actor) => guard(() => verbs.expect(name, expectation, actor)),
  }
}
