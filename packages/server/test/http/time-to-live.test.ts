/** How long consumers take from the publication of a listing until they report it live (PROTOCOL §14.6). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import type { Consumers, PropertyConsumers } from '@property-events/protocol/wire'
import { call, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import type { TestService } from '../support/test-service.ts'

const [north, south] = ['Gogledd – 1', 'Y De £']
const json = { 'content-type': 'application/json' }

async function ask<T>(service: TestService, path: string, key: string): Promise<T> {
  const answer = await call(service, path, { key })
  assert.equal(answer.status, 200, answer.text)
  const found: T = JSON.parse(answer.text)
  return found
}

/** Of a consumer's time, what does not depend on the clock. */
function counts(time: PropertyConsumers['consumers'][number]['timeToLive'] | undefined) {
  if (time === null || time === undefined) return time
  const { live, notLiveYet, neverLive, p50Seconds, p95Seconds, oldestNotLiveAt, since } = time
  assert.ok(Math.abs(Date.now() - 30 * 86_400_000 - Date.parse(since)) < 600_000, since)
  for (const seconds of [p50Seconds, p95Seconds]) {
    assert.equal(seconds === null, live === 0)
    assert.ok((seconds ?? 0) < 600, String(seconds))
  }
  assert.equal(oldestNotLiveAt === null, notLiveYet === 0)
  return [live, notLiveYet, neverLive]
}

onEngines('time to live', {}, (service) => {
  it('is shown of each consumer to whom it concerns, of branches and tenants that they see alone (P10, PROTOCOL §14.6)', async () => {
    const { tenantId, publishKey } = service().tenant
    const grant = (scope: 'property:read' | 'property:publish', branches?: readonly string[]) =>
      service().issue({ grants: [{ tenantId, scopes: [scope], ...(branches && { branches }) }] })
    const site = await grant('property:read')
    const northSite = await grant('property:read', [north])
    const quiet = await grant('property:read')
    const southPublisher = await grant('property:publish', [south])
    const inspects = await service().issue({ grants: [{ tenantId, scopes: ['tenant:inspect'] }] })
    const refs: readonly string[] = Array.from({ length: 5 }, () => randomUUID())
    const payloads = refs.map((agent_ref, n) => property({ agent_ref, branch_id: n < 2 ? north : south }))
    const { events } = await publish(
      service(),
      payloads.map((payload) => ({ payload })),
    )
    const [first = '', second = '', third = '', fourth = ''] = refs
    await publish(service(), [{ remove: { agentRef: fourth } }])
    const report = async (key: string, ...said: readonly (readonly [ref: string, outcome: string])[]) => {
      const results = said.map(([agentRef, outcome]) => {
        return { agentRef, outcome, sequenceNumber: events[refs.indexOf(agentRef)]?.sequenceNumber }
      })
      const request = { method: 'POST', key, headers: json, body: JSON.stringify(results) }
      const answer = await call(service(), '/v1/property-consumers/default/results', request)
      assert.equal(answer.status, 200, answer.text)
    }
    await report(site.text, [first, 'live'], [second, 'held'], [third, 'live'])
    await report(northSite.text, [first, 'live'], [second, 'live'])

    const { items } = await ask<Consumers>(
      service(),
      `/v1/admin/tenants/${tenantId}/consumers`,
      inspects.text,
    )
    const listed = (keyId: string) => items.find((one) => one.keyId === keyId)?.timeToLive
    assert.deepEqual(counts(listed(site.keyId)), [2, 2, 1])
    assert.deepEqual(counts(listed(northSite.keyId)), [2, 0, 0])
    assert.equal(listed(quiet.keyId), null)
    const contacts = await ask<Consumers>(
      service(),
      `/v1/admin/tenants/${tenantId}/consumers?feed=contact`,
      inspects.text,
    )
    assert.ok(contacts.items.every(({ timeToLive }) => timeToLive === null))

    const why = async (key: string, ref: string) => {
      const seen = await ask<PropertyConsumers>(service(), `/v1/properties/${ref}/consumers`, key)
      return new Map(seen.consumers.map((one) => [one.keyId, counts(one.timeToLive)]))
    }
    const toAgency = await why(publishKey, second)
    assert.deepEqual(toAgency.get(site.keyId), [2, 2, 1])
    assert.deepEqual(toAgency.get(northSite.keyId), [2, 0, 0])
    assert.equal(toAgency.get(quiet.keyId), null)
    const toSouth = await why(southPublisher.text, third)
    assert.ok(!toSouth.has(northSite.keyId))
    assert.deepEqual(toSouth.get(site.keyId), [1, 1, 1])
    const toNorthSite = await why(northSite.text, first)
    assert.deepEqual([...toNorthSite], [[northSite.keyId, [2, 0, 0]]])

    const foreign = service().otherTenant
    await publish({ port: service().port, tenant: foreign }, [{ payload: property({ agent_ref: first }) }], {
      key: foreign.publishKey,
    })
    for (const time of (await why(foreign.publishKey, first)).values()) assert.equal(time, null)
  })
})
