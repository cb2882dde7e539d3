/** Metrics, liveness and readiness of a service on several threads. */
import { shownMetrics } from '../observability/metrics.ts'
import type { Metrics, ShownMetrics } from '../observability/metrics.ts'
import type { OperationsServerOptions } from '../observability/operations-server.ts'
import { stoppingReadiness, storeReadiness, unansweredReadiness } from '../observability/readiness.ts'
import type { ServingThread } from './serving-thread.ts'
import type { ThreadedServiceOptions } from './threaded-service.ts'
import { soon } from './soon.ts'
import { isAwake } from './threads.ts'

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
}: OperationsParts): Omit<OperationsServerOptions, 'host' | 'port' | 'report'> {
  const shown = shownMetrics(metrics)
  const measure = async (thread: ServingThread): Promise<void> => {
    shown.add(thread, await thread.ask({ verb: 'measure' }))
  }
  const measureAll = async (): Promise<ShownMetrics> => {
    await Promise.all(threads.map((thread) => soon(measure(thread))))
    shown.add(metrics, await metrics.take())
    return shown
  }
  return {
    render: async () => (await measureAll()).render(),
    slowest: async () => (await measureAll()).slowest(),
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
