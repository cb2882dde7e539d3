/**
 * The same publish request sent twice: as clients send it, which is answered past the router where nothing about it is unusual,
 * and with an absolute target, which only the router takes. Each goes to a tenant of its own, so that both see the same feed.
 */
import { randomUUID } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { call } from './http-client.ts'
import type { Answer, Call } from './http-client.ts'
import type { TestService } from './test-service.ts'

/** What is known about each of two tenants that went through the same: keys in the same order. */
export interface TwoTenants {
  readonly direct: readonly (string | undefined)[]
  readonly routed: readonly (string | undefined)[]
}

export interface Request extends Omit<Call, 'key'> {
  readonly path: string
  /** Which of the tenant's keys. */
  readonly key: number
}

/** An answer as far as it does not depend on when it was given: its headers in their order, and its bytes. */
export interface Compared {
  readonly status: number
  readonly headers: readonly (readonly [string, unknown])[]
  readonly text: string
}

const idPattern = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi

/** Both answers, with what the service itself chose (times, ids that nobody sent) put aside. */
export async function askBothWays(
  service: TestService,
  { direct, routed }: TwoTenants,
  { path, key, headers, ...rest }: Request,
): Promise<{ readonly direct: Compared; readonly routed: Compared }> {
  const named = { ...rest, headers: { ...headers, 'x-request-id': `both-${randomUUID()}` } }
  const sent = new Set(String(rest.body ?? '').match(idPattern) ?? [])
  const compared = (answer: Answer): Compared => ({
    status: answer.status,
    headers: Object.entries(answer.headers).filter(([name]) => name !== 'date'),
    text: answer.text
      .replaceAll(/"createdDate":"[^"]*"/g, '"createdDate":""')
      .replaceAll(idPattern, (id) => (sent.has(id) || answer.status >= 400 ? id : 'an id')),
  })
  const plain = await call(service, path, { ...named, key: direct[key] })
  const absolute = await call(service, `http://127.0.0.1${path}`, { ...named, key: routed[key] })
  return { direct: compared(plain), routed: compared(absolute) }
}

/** Has a key looked at, as only one that was is answered past the router. */
export async function proveKey(service: TestService, key: string): Promise<void> {
  await call(service, '/v1/heads', { key })
}

/** How many requests Node's HTTP was given meanwhile. */
export async function readByNodeDuring(work: () => Promise<unknown>): Promise<number> {
  let count = 0
  const onStart = (): void => void (count += 1)
  subscribe('http.server.request.start', onStart)
  await work().finally(() => unsubscribe('http.server.request.start', onStart))
  return count
}
