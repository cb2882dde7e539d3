/**
 * A service. The program loads this only to start one: the commands that start none (`publish`, `keys`, `sync`) use 0.05 s of processor
 * time less without its operations and metrics, measured manually.
 */
import type { Service, ServiceOptions } from './service.ts'

/** Rejects with Node's own error when an address cannot be listened on (`EADDRINUSE`, `EACCES`, …). */
export async function createService(options: ServiceOptions): Promise<Service> {
  const http = await import('./service.ts')
  return http.createService(options)
}
