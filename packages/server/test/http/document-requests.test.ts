/** The document as a stranger's tool reads it: requests made from it alone, and every answer held against it. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { adminScopes } from '@property-events/protocol'
import * as fc from 'fast-check'
import { postErasure } from '../support/canary.ts'
import { faultsOfAnswer, isRefusedForItsForm } from '../support/document-answers.ts'
import { requestsOf } from '../support/document-requests.ts'
import type { DocumentRequest, Known } from '../support/document-requests.ts'
import { call, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { isLongRun } from '../support/on-engines.ts'
import { committedDocument, operationsOf } from '../support/openapi-document.ts'
import type { DocumentedOperation } from '../support/openapi-document.ts'
import { contact, property } from '../support/property.ts'
import { postRestriction } from '../support/restrictions.ts'
import { checksOf } from '../support/schema-values.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService, TestTenant } from '../support/test-service.ts'
import { makeWebhook, webhookKey } from '../support/webhooks.ts'

/** 5,110 requests in the long run. */
const perOperation = isLongRun ? 35 : 3
const seed = Number(process.env['PROPERTY_EVENTS_TEST_SEED'] ?? Date.now() % 2 ** 31)

describe(`requests made from the OpenAPI document, as other tools make them (seed ${seed})`, () => {
  const document = committedDocument()
  const operations = operationsOf(document)
  const checkOf = checksOf(document)
  let service: TestService
  let known: Known
  let keys: TestTenant & { readonly operator: string; readonly posting: string }

  before(async () => {
    service = await startTestService({ engine: 'sqlite', limits: { longestWaitMs: 10, streamMs: 10 } })
    const posting = await webhookKey(service)
    known = await somethingThere(service, posting)
    const { text: operator } = await service.issue({ operator: true, adminScopes })
    keys = { ...service.tenant, operator, posting }
  })
  after(() => service.stop())

  it(`are answered as it says: all ${operations.length} operations, ${perOperation} times each (D6, D9, D21)`, async () => {
    const made = operations.map((operation, index) =>
      fc.sample(requestsOf(document, operation, knownTo(operation), checkOf), {
        seed: seed + index,
        numRuns: perOperation,
      }),
    )
    const faults: string[] = []
    const counts = { sound: 0, broken: 0, succeeded: 0 }
    // Operation by operation, and again: what one has made is there for the others.
    for (const request of Array.from({ length: perOperation }, (_, n) => made.map((all) => all[n])).flat()) {
      assert.ok(request)
      const { operation, path, flaw, body = '' } = request
      const answer = await answerTo(request, operation.method)
      counts[flaw === undefined ? 'sound' : 'broken'] += 1
      if (answer.status < 300) counts.succeeded += 1
      const found = [...faultsOfAnswer(operation, answer, checkOf), ...(await misjudged(request, answer))]
      const told = `${operation.method} ${path} ${body.slice(0, 500)} → ${answer.status} ${answer.text.slice(0, 500)}`
      faults.push(...found.map((fault) => `${fault}: ${told}`))
    }
    assert.deepEqual(faults, [])
    const least = (operations.length * perOperation) / 5
    assert.ok(
      Object.values(counts).every((count) => count > least),
      JSON.stringify(counts),
    )
  })

  it('are refused without a key, or with one that means nothing, where it asks for one (D11, D21)', async () => {
    for (const operation of operations) {
      const { method, security = [] } = operation
      const [request] = fc.sample(requestsOf(document, operation, knownTo(operation), checkOf), {
        seed,
        numRuns: 1,
      })
      const [path = ''] = request?.path.split('?') ?? []
      for (const key of [undefined, 'pev_nothing']) {
        const answer = await call(service, path, { method, key })
        assert.equal(answer.status, security.length === 0 ? 200 : 401, `${method} ${path}`)
        assert.deepEqual(faultsOfAnswer(operation, answer, checkOf), [], `${method} ${path}`)
      }
    }
  })

  function answerTo({ operation, path, headers, body }: DocumentRequest, method: string): Promise<Answer> {
    const key = keyFor(operation)
    return call(service, path, { method, key, headers, ...(body === undefined ? {} : { body }) })
  }

  /** What keeps to the document is not refused for its form, and what breaks it does not succeed. A refusal of HEAD is read with GET. */
  async function misjudged(request: DocumentRequest, answer: Answer): Promise<readonly string[]> {
    const { operation, flaw } = request
    if (flaw !== undefined) return answer.status < 400 ? [`taken although ${flaw} is not allowed`] : []
    const isHead = operation.method === 'HEAD' && answer.status >= 400
    const told = isHead ? await answerTo(request, 'GET') : answer
    if (told.status !== answer.status) return [`GET is answered ${told.status}`]
    return isRefusedForItsForm(told) ? [`refused although it is allowed: ${told.text}`] : []
  }

  /** What changes or deletes a tenant does so to the other one: this one is read by all. */
  function knownTo({ operationId }: DocumentedOperation): Known {
    const isEnding = operationId === 'changeTenant' || operationId === 'deleteTenant'
    return isEnding ? { ...known, tenantId: [service.otherTenant.tenantId] } : known
  }

  function keyFor({ 'x-scopes': scopes = [], path }: DocumentedOperation): string | undefined {
    if (path.startsWith('/v1/admin')) return keys.operator
    if (scopes.some((scope) => scope.endsWith(':webhooks'))) return keys.posting
    if (scopes.some((scope) => scope.endsWith(':erase'))) return keys.eraseKey
    return scopes.some((scope) => scope.endsWith(':publish')) ? keys.publishKey : keys.readKey
  }
})

/** A tenant with events, a key, a webhook, an erasure and a restriction: ids that paths can name. */
async function somethingThere(service: TestService, posting: string): Promise<Known> {
  const payload = property()
  const { events } = await publish(service, [{ payload }, { payload: property() }])
  const contactRef = randomUUID()
  await publish(service, [{ payload: contact() }, { payload: contact({ contact_ref: contactRef }) }], {
    feed: 'contact',
  })
  const erased = property()
  await publish(service, { payload: erased })
  const words = { feed: 'property', subjectId: erased.agent_ref, reason: 'objection' }
  const idOf = ({ text }: Answer) => (JSON.parse(text) as { id: string }).id
  const { keyId } = await service.issue({
    grants: [{ tenantId: service.tenant.tenantId, scopes: ['property:read'] }],
  })
  return {
    eventId: events.map(({ id }) => id),
    subjectId: [payload.agent_ref],
    agentRef: [payload.agent_ref],
    contactRef: [contactRef],
    tenantId: [service.tenant.tenantId],
    tenant: [service.tenant.tenantId],
    tenants: [service.tenant.tenantId],
    'x-tenant': [service.tenant.tenantId],
    keyId: [keyId],
    webhookId: [(await makeWebhook(service, posting)).id],
    erasureId: [idOf(await postErasure(service, words))],
    restrictionId: [idOf(await postRestriction(service, contactRef))],
  }
}
