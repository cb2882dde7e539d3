import assert from 'node:assert/strict'
import { it } from 'node:test'
import { branchKey } from '../support/branch-key.ts'
import { call, receiptOf } from '../support/http-client.ts'
import { isLongRun, onEngines } from '../support/on-engines.ts'
import { adminScopes } from '@property-events/protocol'
import { committedDocument, operationsOf, validatorOf } from '../support/openapi-document.ts'
import type { Validator } from '../support/openapi-document.ts'
import { randomOf, randomRequest } from '../support/random-requests.ts'

const requests = isLongRun ? 100_000 : 2_000
const seed = Number(process.env['PROPERTY_EVENTS_TEST_SEED'] ?? Date.now() % 2 ** 31)

/** Nothing waits for long. */
const limits = { longestWaitMs: 10, streamMs: 10 }

onEngines(`requests made from the OpenAPI document (${requests}, seed ${seed})`, { limits }, (service) => {
  it('are all answered with a documented status and body, and never with 5xx (P11, D6, D9)', async () => {
    const document = committedDocument()
    const operations = operationsOf(document).filter(({ method }) => method !== 'HEAD')
    const validators = new Map<string, Validator>()
    const random = randomOf(seed)
    const ids: string[] = []
    const tags: string[] = []
    const statuses = new Map<number, number>()
    const { tenant, otherTenant } = service()
    const { text: operator } = await service().issue({ operator: true, adminScopes })
    const { text: manager } = await service().issue({
      grants: [{ tenantId: tenant.tenantId, scopes: ['tenant:inspect', 'tenant:manage'] }],
    })
    const adminKeys = [operator, operator, manager]
    const ofBranches = await branchKey(service(), ['Dale', 'Fell'])
    const limited = { ...tenant, readKey: ofBranches, publishKey: ofBranches }
    const surroundings = { tenants: [tenant, otherTenant, limited], adminKeys, ids, tags }

    for (let index = 0; index < requests; index += 1) {
      const { operation, method, path, key, headers, body } = randomRequest(random, operations, surroundings)
      const answer = await call(service(), path, {
        method,
        key,
        headers,
        ...(body === undefined ? {} : { body }),
      })
      const told = `seed ${seed}, request ${index}: ${method} ${path} → ${answer.status} ${answer.text.slice(0, 300)}`
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      assert.ok(answer.status < 500, told)
      const response = operation.responses[String(answer.status)]
      assert.ok(response, `not documented: ${told}`)
      assert.ok(answer.headers['x-request-id'], told)
      if (answer.headers.etag !== undefined && tags.length < 50) tags.push(answer.headers.etag)
      if (answer.headers['content-encoding'] === 'gzip' || method === 'HEAD' || answer.text === '') continue
      const type = String(answer.headers['content-type']).split(';')[0] ?? ''
      const schema = response.content?.[type]?.schema
      assert.ok(schema, `${type} is not documented: ${told}`)
      const value: unknown = type === 'application/json' ? JSON.parse(answer.text) : answer.text
      const name = JSON.stringify(schema)
      const validate = validators.get(name) ?? validatorOf(document, schema)
      validators.set(name, validate)
      assert.equal(validate(value), undefined, told)
      if (answer.status === 201 && path.includes('-events') && ids.length < 200)
        ids.push(...receiptOf(answer).events.map(({ id }) => id))
    }
    for (const status of [200, 201, 304, 400, 401, 404, 406, 409, 415]) {
      assert.ok(statuses.has(status), `no request was answered ${status}: the requests are not varied enough`)
    }
  })
})
