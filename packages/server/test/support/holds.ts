/** Short ways to ask for holds over HTTP. */
import { call } from './http-client.ts'
import type { Answer } from './http-client.ts'
import type { TestService } from './test-service.ts'

type Asked = Pick<TestService, 'port' | 'tenant'>

export interface HoldBody {
  readonly id: string
  readonly state: string
  readonly [member: string]: unknown
}

export function postHold(service: Asked, body: unknown, key = service.tenant.eraseKey): Promise<Answer> {
  return call(service, '/v1/holds', {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

export function postEndOfHold(service: Asked, id: string, key = service.tenant.eraseKey): Promise<Answer> {
  return call(service, `/v1/holds/${id}/end`, { method: 'POST', key })
}

export async function listHolds(service: Asked, key = service.tenant.eraseKey): Promise<readonly HoldBody[]> {
  const answer = await call(service, '/v1/holds', { key })
  return (JSON.parse(answer.text) as { readonly holds: readonly HoldBody[] }).holds
}

/** A day from now on, in UTC. */
export function dayFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
}
