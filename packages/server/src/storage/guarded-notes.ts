/** The guards of what is noted of requests, as `guarded-verbs.ts` has them for the other parts. */
import type { Guard, Unguarded } from './guarded-verbs.ts'
import type { PublicationStore, UsageStore } from './storage.ts'

export function guardedUsage(verbs: Unguarded<UsageStore>, guard: Guard): UsageStore {
  return {
    add: (counts) => guard(() => verbs.add(counts)),
    hours: (keyId, fromHour, toHour) => guard(() => verbs.hours(keyId, fromHour, toHour)),
    days: (keyId, fromDay, toDay) => guard(() => verbs.days(keyId, fromDay, toDay)),
    age: (nowMs) => guard(() => verbs.age(nowMs)),
  }
}

export function guardedPublications(verbs: Unguarded<PublicationStore>, guard: Guard): PublicationStore {
  return {
    add: (minutes, refusals) => guard(() => verbs.add(minutes, refusals)),
    list: (query) => guard(() => verbs.list(query)),
    age: (nowMs) => guard(() => verbs.age(nowMs)),
  }
}
