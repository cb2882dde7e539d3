/** The list of contacts that expire, and the veto, over HTTP (PROTOCOL §5.7, D17). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { expiryNoticeDays } from '../../src/privacy/contact-expiry/contact-expiry.ts'
import { call, problemOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact } from '../support/property.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const dayMs = 86_400_000
const path = '/v1/expiring-contacts'
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

function keep(service: TestService, contactRef: string, key = service.tenant.eraseKey): Promise<Answer> {
  return call(service, `${path}/${contactRef}/keep`, { method: 'POST', key })
}

async function listed(service: TestService, key = service.tenant.eraseKey) {
  const answer = await call(service, path, { key })
  assert.equal(answer.status, 200, answer.text)
  return JSON.parse(answer.text) as { contacts: readonly { contactRef: string }[]; next: string | null }
}

/** As if all contacts were old enough to be on the list since today. */
async function enlistAll({ storage, tenant: { tenantId } }: TestService): Promise<number> {
  const todayMs = Date.now() - (Date.now() % dayMs)
  const before = BigInt(Date.now() + dayMs) * 10_000n
  while ((await storage.expiry.enlist({ tenantId, before, todayMs, limit: 100 })) > 0) continue
  return todayMs
}

onEngines('contacts that expire', { maintenanceFreshMs: 50 }, (service) => {
  it('are listed with their day to keys that may erase them, and kept on their word (D17, P10)', async () => {
    const { storage, tenant, otherTenant } = service()
    const { tenantId } = tenant
    const refs = Array.from({ length: 103 }, () => crypto.randomUUID()).toSorted()
    const contacts = refs.map((contact_ref) => ({ payload: contact({ contact_ref }) }))
    await publish(service(), contacts, { feed: 'contact' })
    const todayMs = await enlistAll(service())
    assert.deepEqual(await listed(service()), { contacts: [], next: null }, 'no rule says so')
    await storage.retention.setRule(tenantId, 'expire-contacts', 10, 'cli:test')
    const first = await listed(service())
    assert.deepEqual(first.contacts[0], {
      contactRef: refs[0],
      erasedOn: dayOf(todayMs + expiryNoticeDays * dayMs),
      unchangedSince: dayOf(Date.now()),
      listedOn: dayOf(todayMs),
    })
    const rest = await call(service(), `${path}?after=${first.next}`, { key: tenant.eraseKey })
    const second = JSON.parse(rest.text) as typeof first
    const all = [...first.contacts, ...second.contacts].map(({ contactRef }) => contactRef)
    assert.deepEqual([all, second.next], [refs, null])

    const [kept = '', other = ''] = refs
    const answer = await keep(service(), kept.toUpperCase())
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(JSON.parse(answer.text), { tenantId, contactRef: kept, kept: true })
    assert.ok((await listed(service())).contacts.every(({ contactRef }) => contactRef !== kept))
    const rows = await storage.audit.read({ first: 'newest', action: 'contact.kept', limit: 1 })
    assert.ok(rows !== 'unknownRow')
    assert.deepEqual(
      rows.map(({ target, actor }) => [target, actor]),
      [[kept, `key:${tenant.eraseKey.split('_')[1]}`]],
    )

    // Another agency sees none, and keeps none (P10).
    assert.deepEqual((await listed(service(), otherTenant.eraseKey)).contacts, [])
    const foreign = await keep(service(), other, otherTenant.eraseKey)
    assert.deepEqual([foreign.status, problemOf(foreign).code], [404, 'subject_not_found'])
    const { text: property } = await service().issue({ grants: [{ tenantId, scopes: ['property:erase'] }] })
    for (const refused of [
      await keep(service(), other, property),
      await call(service(), path, { key: property }),
    ])
      assert.deepEqual([refused.status, problemOf(refused).code], [403, 'missing_scope'])
    assert.ok((await listed(service())).contacts.some(({ contactRef }) => contactRef === other))
  })

  it('are not kept if that would be lost: under maintenance, and in a store that their tenant leaves (PROTOCOL §5.9)', async () => {
    const { storage, tenant } = service()
    const contactRef = crypto.randomUUID()
    await publish(service(), [{ payload: contact({ contact_ref: contactRef }) }], { feed: 'contact' })
    assert.equal((await keep(service(), 'nobody')).status, 400)
    assert.equal((await keep(service(), crypto.randomUUID())).status, 404)
    await storage.moves.change(tenant.tenantId, 'open', 'leaving', 'cli:test')
    const moving = await keep(service(), contactRef)
    assert.deepEqual([moving.status, problemOf(moving).code], [503, 'tenant_moving'])
    await storage.moves.change(tenant.tenantId, 'leaving', 'open', 'cli:test')
    await storage.setMaintenance({ sinceMs: Date.now(), retryAfterSeconds: 7 }, 'cli:test')
    await until(async () => (await keep(service(), contactRef)).status === 503)
    assert.equal(problemOf(await keep(service(), contactRef)).code, 'maintenance')
    await storage.setMaintenance(undefined, 'cli:test')
    await until(async () => (await keep(service(), contactRef)).status === 200)
  })
})
