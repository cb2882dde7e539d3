/** The guards of what is noted about requests, like those of the other parts in `guarded-verbs.ts`. */
import type { Guard, Unguarded } from './guarded-verbs.ts'
import type { PublicationStore } from './storage.ts'

export function guardedPublications(verbs: Unguarded<PublicationStore>, guard: Guard): PublicationStore {
  return {
    add: (minutes, refusals) => guard(() => verbs.add(minutes, refusals)),
    list: (query) => guard(() => verbs.list(query)),
    refusedSince: (minute, limit) => guard(() => verbs.refusedSince(minute, limit)),
    age: (nowMs) => guard(() => verbs.age(nowMs)),
  }
}
