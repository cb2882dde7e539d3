/** Texts and numbers that no store takes: PostgreSQL fails for a NUL, and for a number that is too large for its column (P11). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { adminScopes, scopes, tenantScopes } from '@property-events/protocol'
import { call, problemOf, publish } from '../support/http-client.ts'
import type { Call } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { committedDocument, operationsOf } from '../support/openapi-document.ts'
import type { DocumentedOperation, Parameter } from '../support/openapi-document.ts'
import { property } from '../support/property.ts'
import type { TestService } from '../support/test-service.ts'

const operations = operationsOf(committedDocument()).filter(({ method }) => method !== 'HEAD')

/** Nothing waits for long. */
const limits = { longestWaitMs: 10, streamMs: 10, minSequenceWaitMs: 10 }

/** A NUL, and half of a surrogate pair, each as it can be written in an address. */
const texts = ['a%00b', '%ED%A0%80']
/** The first and the last day that can be asked for. */
const times = ['0001-01-01', '9999-12-31']
/** The largest that have the form of a place in some list. */
const places = ['2gosa7pa2gv', 'zik0zj-p-a', 'all.999999999.999999999']
const numbers = [String(Number.MAX_SAFE_INTEGER)]

function unstorable({ name, in: place, schema }: Parameter): readonly string[] {
  if (schema['type'] === 'integer') return numbers
  if (place === 'header') return [`k.${'9'.repeat(30)}`]
  if (name === 'from' || name === 'to') return [...texts, ...times]
  return name === 'after' ? [...texts, ...places] : texts
}

/** What stands in a path by the name of the parameter, where nothing else is tried there. */
type Values = Readonly<Record<string, string>>

interface Asked extends Call {
  readonly path: string
}

/** One request for each text, in each place of the operation. */
function requestsOf(operation: DocumentedOperation, values: Values): readonly Asked[] {
  const { method, parameters = [], path: template } = operation
  const window = template.endsWith('/rate') ? ['from=2020-01-01', 'to=2099-01-01'] : []
  const body = method === 'POST' || method === 'PUT' || method === 'PATCH' ? '{}' : undefined
  const asked = (given: Values, query: readonly string[], headers: Values): Asked => ({
    method,
    path: `${template.replaceAll(/\{(\w+)\}/g, (_, name: string) => given[name] ?? '')}?${query.join('&')}`,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body }),
  })
  return parameters.flatMap((parameter) =>
    unstorable(parameter).map((text) => {
      const { name, in: place } = parameter
      if (place === 'path') return asked({ ...values, [name]: text }, window, {})
      if (place === 'header') return asked(values, window, { [name]: text })
      const others = window.filter((piece) => !piece.startsWith(`${name}=`))
      return asked(values, [...others, `${name}=${text}`], {})
    }),
  )
}

async function valuesOf(service: TestService): Promise<Values> {
  const { events } = await publish(service, [{ payload: property() }])
  const { keyId } = await service.issue({
    grants: [{ tenantId: service.tenant.tenantId, scopes: ['property:read'] }],
  })
  const [event] = events
  const id = crypto.randomUUID()
  const subject = event?.transactionId ?? ''
  return {
    tenantId: service.tenant.tenantId,
    keyId,
    eventId: event?.id ?? '',
    subjectId: subject,
    agentRef: subject,
    contactRef: id,
    erasureId: id,
    holdId: id,
    restrictionId: id,
    deletionId: id,
    actor: 'cli:nobody',
    name: 'website',
    feed: 'property',
  }
}

onEngines('what no store holds', { limits }, (service) => {
  it('is answered with a documented refusal in every place of every operation, never with 5xx (P11, D6)', async () => {
    const values = await valuesOf(service())
    const { tenantId } = service().tenant
    const { text: operator } = await service().issue({ operator: true, adminScopes })
    const { text: agency } = await service().issue({
      grants: [{ tenantId, scopes: [...scopes, ...tenantScopes] }],
    })
    let tried = 0
    for (const operation of operations) {
      const key = operation.path.startsWith('/v1/admin') ? operator : agency
      for (const { path, ...asked } of requestsOf(operation, values)) {
        const answer = await call(service(), path, { ...asked, key })
        const told = `${operation.method} ${path} ${JSON.stringify(asked.headers)} → ${answer.status} ${answer.text.slice(0, 300)}`
        assert.ok(operation.responses[String(answer.status)] !== undefined, `not documented: ${told}`)
        // Of these, a number that is not reached in time is told so.
        assert.ok(answer.status < 500 || problemOf(answer).code === 'sequence_not_reached', told)
        tried += 1
      }
    }
    assert.ok(tried > 400, `${tried} requests: the document names more places than that`)
  })

  it('names no key, in whatever place an id of one belongs (D11)', async () => {
    const { tenantId, eraseKey } = service().tenant
    const { text: operator } = await service().issue({ operator: true, adminScopes })
    const headers = { 'content-type': 'application/json' }
    const own = `/v1/admin/tenants/${tenantId}/publications`
    for (const id of ['%00', '123456789012%00', '%EF%BF%BF', 'a'.repeat(13)]) {
      for (const [method, path, key, body] of [
        ['GET', `/v1/admin/keys/${id}`, operator, undefined],
        ['GET', `/v1/admin/keys/${id}/usage`, operator, undefined],
        ['PATCH', `/v1/admin/keys/${id}`, operator, '{"label":"x"}'],
        ['POST', `/v1/admin/keys/${id}/rotate`, operator, '{}'],
        ['POST', `/v1/admin/keys/${id}/revoke`, operator, undefined],
        ['GET', `/v1/exposure/${id}`, eraseKey, undefined],
      ] as const) {
        const sent = body === undefined ? {} : { headers, body }
        const answer = await call(service(), path, { method, key, ...sent })
        assert.deepEqual([answer.status, problemOf(answer).code], [404, 'key_not_found'], `${method} ${path}`)
      }
      for (const path of [`${own}?key=${id}`, `/v1/admin/audit?key=${id}`]) {
        const answer = await call(service(), path, { key: operator })
        const [error] = problemOf(answer).errors ?? []
        assert.deepEqual([answer.status, error?.parameter, error?.code], [400, 'key', 'not_a_key_id'], path)
      }
    }
  })
})
