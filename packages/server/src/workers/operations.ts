/** Metrics, liveness and readiness of a service on several threads. */
import { renderTogether } from '../observability/metrics.ts'
import type { Metrics, MetricValues } from '../observability/metrics.ts'
import type { OperationsServerOptions } from '../observability/operations-server.ts'
import { stoppingReadiness, storeReadiness, unansweredReadiness } from '../observability/readiness.ts'
import type { ServingThread } from './serving-thread.ts'
import type { ThreadedServiceOptions } from './threaded-service.ts'
import { isAwake, soon } from './threads.ts'

export interface OperationsParts {
  readonly threads: readonly ServingThread[]
  readonly metrics: Metrics
  readonly options: ThreadedServiceOptions
  readonly isStopping: () => boolean
}

export function operationsOf({
  threads,
  metrics,
  options,
  isStopping,
}: OperationsParts): Omit<OperationsServerOptions, 'host' | 'port'> {
  // The last metrics of each thread. Without them, counters would fall when one thread is late, and look like a
  // restart.
  const counted = new Map<ServingThread, MetricValues>()
  async function count(thread: ServingThread): Promise<void> {
    counted.set(thread, await thread.ask({ verb: 'values' }))
  }
  return {
    async render() {
      await Promise.all(threads.map((thread) => soon(count(thread))))
      return renderTogether(await metrics.values(), [...counted.values()])
    },
    async alive() {
      return (await Promise.all(threads.map(isAwake))).every((awake) => awake)
    },
    async readiness() {
      if (isStopping()) return stoppingReadiness
      const own = soon(storeReadiness(options.store.storage, options.peppers))
      const said = threads.map((thread) => soon(thread.ask({ verb: 'answers' })))
      const all = (await Promise.all(said)).every((answer) => answer === true)
      return (all ? await own : undefined) ?? unansweredReadiness
    },
  }
}
