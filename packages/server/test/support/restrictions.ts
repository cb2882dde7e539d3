/** Short ways to restrict contacts over HTTP. */
import assert from 'node:assert/strict'
import { call } from './http-client.ts'
import type { Answer } from './http-client.ts'
import type { TestService } from './test-service.ts'
import { until } from './until.ts'

type Asked = Pick<TestService, 'port' | 'tenant'>

export interface RestrictionBody {
  readonly id: string
  readonly state: string
  readonly closing: { readonly id: string; readonly sequenceNumber: number }
  readonly [member: string]: unknown
}

/** `body`: the contact's reference, or all that is sent. */
export function postRestriction(
  service: Asked,
  body: unknown,
  key = service.tenant.eraseKey,
): Promise<Answer> {
  const asked =
    typeof body === 'string'
      ? { feed: 'contact', subjectId: body, reason: 'objection', caseRef: 'R-1' }
      : body
  return call(service, '/v1/restrictions', {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(asked),
  })
}

export function postEndOfRestriction(
  service: Asked,
  id: string,
  key = service.tenant.eraseKey,
): Promise<Answer> {
  return call(service, `/v1/restrictions/${id}/end`, { method: 'POST', key })
}

/** Waits until it is in that state. */
export async function untilRestriction(service: Asked, id: string, state: string): Promise<void> {
  await until(async () => {
    const answer = await call(service, `/v1/restrictions/${id}`, { key: service.tenant.eraseKey })
    assert.equal(answer.status, 200, answer.text)
    return (JSON.parse(answer.text) as RestrictionBody).state === state
  })
}

/** Restricts, and waits until no answer shows the contact. */
export async function restrictContact(service: Asked, contactRef: string): Promise<RestrictionBody> {
  const begun = await postRestriction(service, contactRef)
  assert.equal(begun.status, 202, begun.text)
  const restriction = JSON.parse(begun.text) as RestrictionBody
  await untilRestriction(service, restriction.id, 'restricted')
  return restriction
}
