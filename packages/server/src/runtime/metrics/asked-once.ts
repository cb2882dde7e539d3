/** Asks the store for what the metrics show of it, without making them wait for a store that hangs. */
import { setTimeout as delay } from 'node:timers/promises'
import { reported } from '../background-task.ts'
import type { TaskReport } from '../background-task.ts'

/** Prometheus gives up after 10 s by default. */
const patienceMs = 2_000

/** Asks one question at a time. Callers that ask meanwhile share its answer; `undefined`: none came in time. Never rejects. */
export function askedOnce<T>(ask: () => Promise<T>, report: TaskReport): () => Promise<T | undefined> {
  let asking: Promise<T | undefined> | undefined
  return async () => {
    asking ??= reported(report, 'measure_store', ask()).finally(() => (asking = undefined))
    const patience = new AbortController()
    const { signal } = patience
    const late = delay(patienceMs, undefined, { signal, ref: false }).catch(() => undefined)
    return Promise.race([asking, late]).finally(() => patience.abort())
  }
}
