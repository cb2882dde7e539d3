/** Who has seen what, with a guard (guarded-verbs.ts). */
import type { ConsumerStore } from './consumer-store.ts'
import type { Guard, Unguarded } from './guarded-verbs.ts'

export function guardedConsumers(verbs: Unguarded<ConsumerStore>, guard: Guard): ConsumerStore {
  return {
    add: (readings) => guard(() => verbs.add(readings)),
    addRefusals: (refusals) => guard(() => verbs.addRefusals(refusals)),
    acknowledge: (acknowledgements) => guard(() => verbs.acknowledge(acknowledgements)),
    putResults: (results) => guard(() => verbs.putResults(results)),
    readings: (key) => guard(() => verbs.readings(key)),
    acknowledgements: (key) => guard(() => verbs.acknowledgements(key)),
    refusals: (keyIds) => guard(() => verbs.refusals(keyIds)),
    results: (tenantId, subjectId) => guard(() => verbs.results(tenantId, subjectId)),
    resultsAfter: (tenantId, after, limit) => guard(() => verbs.resultsAfter(tenantId, after, limit)),
    firstSent: (search) => guard(() => verbs.firstSent(search)),
    sentMinutes: (consumer) => guard(() => verbs.sentMinutes(consumer)),
    tidy: (request) => guard(() => verbs.tidy(request)),
  }
}
