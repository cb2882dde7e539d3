/**
 * A service, loaded when one is started. Its operations and metrics take as much processor time as all the rest (0.1 s, by
 * hand), which the commands of the program that start none (`publish`, `keys`, `sync`) need not spend.
 */
import type { Service, ServiceOptions } from './http/service.ts'
import type { ThreadedService, ThreadedServiceOptions } from './workers/threaded-service.ts'

/** Rejects with Node's own error when an address cannot be listened on (`EADDRINUSE`, `EACCES`, …). */
export async function createService(options: ServiceOptions): Promise<Service> {
  const http = await import('./http/service.ts')
  return http.createService(options)
}

/** Rejects with the system's error when an address cannot be listened on; `ENOTSUP`: threads cannot share a port here. */
export async function createThreadedService(options: ThreadedServiceOptions): Promise<ThreadedService> {
  const threaded = await import('./workers/threaded-service.ts')
  return threaded.createThreadedService(options)
}
