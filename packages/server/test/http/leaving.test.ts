/** A tenant that leaves (PROTOCOL §5.10): nothing is published for it, its properties go, and reading ends later. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { feeds } from '@property-events/protocol'
import { unreported } from '../../src/runtime/background-task.ts'
import { carryOutUnpublishing } from '../../src/tenants/leaving/worker.ts'
import { call, pageOf, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import { until } from '../support/until.ts'

const listPath = `${feeds.property.eventsPath}/getevents?pageSize=1000`
/** What the clock of the service is ahead. */
const ahead = { ms: 0 }
const clock = () => Date.now() + ahead.ms

onEngines('a tenant that leaves', { clock }, (service) => {
  const items = async (key: string) => pageOf(await call(service(), listPath, { key })).items
  /** 200, or as publishing is refused; stores nothing. */
  const probe = (key: string, feed: 'property' | 'contact' = 'property') =>
    call(service(), `${feeds[feed].publishPath}?dryRun=true`, {
      method: 'POST',
      key,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payload: feed === 'property' ? property() : contact() }),
    })
  /** The last event of each property, by its short code. */
  const latestCodes = async (key: string) => {
    const latest = new Map((await items(key)).map((item) => [item.transactionId, item.eventTypeShortCode]))
    return [...latest.values()]
  }

  it('has its properties removed, can still be read, and is refused when reading has ended (PROTOCOL §5, D7, D26)', async () => {
    const { storage, tenant, otherTenant } = service()
    const { tenantId, readKey, publishKey, eraseKey } = tenant
    const removedBefore = property()
    await publish(
      service(),
      Array.from({ length: 120 }, () => ({ payload: property() })),
      { key: publishKey },
    )
    await publish(service(), { payload: removedBefore }, { key: publishKey })
    await publish(service(), { remove: { agentRef: removedBefore.agent_ref } }, { key: publishKey })
    await publish(service(), { payload: contact() }, { key: publishKey, feed: 'contact' })
    await publish(service(), { payload: property() }, { key: otherTenant.publishKey })
    const before = await items(readKey)

    const readingEndsMs = clock() + 3_600_000
    await storage.leaving.begin({ tenantId, sinceMs: clock(), readingEndsMs }, 'cli:test')
    const removing = carryOutUnpublishing({ storage, report: unreported, everyMs: 20 })
    await until(async () => (await probe(publishKey)).status === 401, { what: 'publishing ends' })
    for (const feed of ['property', 'contact'] as const) {
      const refused = await probe(publishKey, feed)
      assert.deepEqual([refused.status, problemOf(refused).code], [401, 'key_disabled'])
      assert.match(problemOf(refused).detail, /is leaving/)
    }
    await until(async () => (await latestCodes(readKey)).every((code) => code === 'PropertyUnpublished'), {
      what: 'every property is removed',
    })
    await removing.close()
    const after = await items(readKey)
    // One removal for each that was published, with its last payload (D26), and nothing for the one that was removed before.
    const live = new Set(before.map((item) => item.transactionId)).size - 1
    const removals = after.slice(-live)
    assert.equal(removals.length, live)
    for (const { payload, transactionId } of removals) {
      const given: unknown = JSON.parse(payload)
      const last = before.findLast((item) => item.transactionId === transactionId)
      assert.deepEqual(given, { ...JSON.parse(last?.payload ?? '{}'), published: false })
    }
    assert.deepEqual(after.slice(0, before.length), before)
    const contacts = await call(service(), `${feeds.contact.eventsPath}/getevents`, { key: readKey })
    assert.ok(
      pageOf(contacts).items.every(({ eventTypeShortCode }) => eventTypeShortCode === 'ContactCreated'),
    )
    assert.equal((await call(service(), '/v1/holds', { key: eraseKey })).status, 200)
    assert.equal((await probe(otherTenant.publishKey)).status, 200)

    // A key of several tenants loses this one alone.
    const grants = [tenant, otherTenant].map((one) => ({
      tenantId: one.tenantId,
      scopes: ['property:read'] as const,
    }))
    const both = (await service().issue({ grants })).text
    const readAs = (id: string) => call(service(), listPath, { key: both, headers: { 'x-tenant': id } })
    assert.equal((await readAs(tenantId)).status, 200)
    ahead.ms += 3_600_001
    const ended = await call(service(), listPath, { key: readKey })
    assert.deepEqual([ended.status, problemOf(ended).code], [401, 'key_disabled'])
    assert.deepEqual(
      [(await readAs(tenantId)).status, (await readAs(otherTenant.tenantId)).status],
      [401, 200],
    )

    await storage.leaving.end(tenantId, 'cli:test')
    await until(async () => (await probe(publishKey)).status === 200, { what: 'it is back' })
    const isRead = async () => (await call(service(), listPath, { key: readKey })).status === 200
    await until(isRead, { what: 'it is read again' })
  })

  it('is done when nothing late is left: what a publication that was let in before brings is removed too (PROTOCOL §5, P1)', async () => {
    const { storage, otherTenant } = service()
    const { tenantId, readKey, publishKey } = otherTenant
    // Not refused yet by access, as a body that takes long would be: the store itself knows of nothing.
    const parts = { storage, report: unreported, everyMs: 5 }
    await publish(service(), { payload: property() }, { key: publishKey })
    await storage.leaving.begin(
      { tenantId, sinceMs: Date.now(), readingEndsMs: clock() + 3_600_000 },
      'cli:test',
    )
    const first = carryOutUnpublishing({ ...parts, settleMs: 3_600_000 })
    await until(async () => (await latestCodes(readKey)).every((code) => code === 'PropertyUnpublished'), {
      what: 'every property is removed',
    })
    await first.close()
    await storage.leaving.end(tenantId, 'cli:test')
    await until(async () => (await probe(publishKey)).status === 200, { what: 'publishing works' })
    await publish(service(), { payload: property() }, { key: publishKey })
    const sinceMs = Date.now() - 10
    await storage.leaving.begin({ tenantId, sinceMs, readingEndsMs: clock() + 3_600_000 }, 'cli:test')
    const second = carryOutUnpublishing({ ...parts, settleMs: 0 })
    const stateOf = async () => (await storage.leaving.list()).find((one) => one.tenantId === tenantId)
    await until(async () => (await stateOf())?.unpublishedMs !== undefined, { what: 'it is done' })
    await second.close()
    assert.ok((await latestCodes(readKey)).every((code) => code === 'PropertyUnpublished'))
  })

  it('stays after all when an operator says over HTTP that it is not suspended (PROTOCOL §5, D11)', async () => {
    const { storage, tenant } = service()
    const { tenantId } = tenant
    await storage.leaving.begin({ tenantId, sinceMs: 1, readingEndsMs: clock() + 3_600_000 }, 'cli:test')
    const { text: key } = await service().issue({ operator: true, adminScopes: ['admin:manage'] })
    const change = (body: object) =>
      call(service(), `/v1/admin/tenants/${tenantId}`, {
        method: 'PATCH',
        key,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const isLeaving = async () => (await storage.leaving.list()).some((one) => one.tenantId === tenantId)
    assert.equal((await change({ name: 'Another' })).status, 200)
    assert.equal(await isLeaving(), true)
    assert.equal((await change({ suspended: false })).status, 200)
    assert.equal(await isLeaving(), false)
  })
})
