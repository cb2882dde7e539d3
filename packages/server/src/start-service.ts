/**
 * A service. The program loads this only to start one: the commands that start none (`publish`, `keys`, `sync`) use 0.05 s of processor
 * time less without its operations and metrics, measured manually.
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
