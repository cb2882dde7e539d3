/** What the overview shows of an agency, and what of it needs attention. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ServiceFault, Tenant, TenantActivity } from '@property-events/protocol/wire'
import {
  distinctFaults,
  faultOf,
  faultsOfService,
  faultsOfTenant,
  furthestText,
  hasMoved,
  headOf,
  liveOf,
  refusedOf,
  tenantStatus,
} from '../src/views/overview/tenant-row.ts'

const tenant: Tenant = {
  tenantId: '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10',
  name: 'Hill & Co',
  reference: null,
  suspended: false,
  duties: true,
  leaving: null,
  deletion: null,
  createdAt: '2026-01-01T00:00:00Z',
}

const facts: TenantActivity = {
  tenantId: tenant.tenantId,
  sequenceNumber: 12_345,
  live: 1_204,
  published: [0, 3],
  furthest: null,
  refused: 72,
}
const keyId = '4fgHt8Kq2LmN'
const behind = (lagEvents: number, lagSeconds: number, name = 'default'): TenantActivity => ({
  ...facts,
  furthest: { keyId, label: 'portal', name, lagEvents, lagSeconds },
})

describe('a row of the overview', () => {
  it('shows dots for values that have not arrived yet (D31)', () => {
    for (const text of [headOf, liveOf, furthestText, refusedOf]) assert.equal(text(undefined), '…')
    assert.deepEqual([headOf(facts), liveOf(facts), refusedOf(facts)], ['12,345', '1,204', '72'])
  })

  it('names the consumer that is furthest behind, in events and time (PROTOCOL §12.11)', () => {
    assert.equal(furthestText(behind(412, 4 * 3_600, 'north')), 'portal, north 412 · 4 h')
    assert.equal(furthestText(behind(0, 0)), 'portal 0')
    assert.equal(furthestText(facts), 'no readers')
  })

  it('requests an agency again only if it has published since (D31)', () => {
    const now = { ...tenant, lastPublishedAt: '2026-03-01T09:00:00.0000000' }
    assert.equal(hasMoved(now, now), false)
    assert.equal(hasMoved(tenant, now), true)
  })

  it('says if an agency is suspended, leaving or being deleted (PROTOCOL §12.2)', () => {
    assert.equal(tenantStatus(tenant), undefined)
    assert.equal(tenantStatus({ ...tenant, suspended: true }), 'suspended')
    assert.match(tenantStatus({ ...tenant, deletion: { id: 'x', state: 'exporting' } }) ?? '', /deleted/)
  })
})

describe('the list of what needs attention', () => {
  const nowMs = Date.UTC(2026, 2, 1, 9, 31)
  const ago = (ms: number): string => new Date(nowMs - ms).toISOString()
  const hourMs = 3_600_000
  const fault = (change: Partial<ServiceFault>): ServiceFault => ({
    code: 'key_refused',
    tenantId: tenant.tenantId,
    tenantName: tenant.name,
    feed: null,
    keyId,
    label: 'website',
    consumer: 'default',
    since: ago(2 * hourMs),
    endsAt: null,
    reason: null,
    refusals: null,
    ...change,
  })
  const saidOf = (change: Partial<ServiceFault>): string => faultOf(fault(change), nowMs).sentence

  it('has each fault that the service lists, of any agency, and where to look (PROTOCOL §12.11)', () => {
    const table: readonly (readonly [Partial<ServiceFault>, string, string])[] = [
      [
        { reason: 'key_expired', refusals: 72 },
        'Hill & Co: key “website” has expired, and is still used: 72 refusals within 2 h',
        'keys',
      ],
      [
        { reason: 'key_scope', refusals: 1, consumer: 'shop' },
        'Hill & Co: “website, shop” is refused (key_scope): 1 refusal within 2 h',
        'keys',
      ],
      [
        { code: 'publisher_silent', feed: 'property', keyId: null, label: null },
        'Hill & Co: nothing was published to the property feed for 2 h',
        'publications',
      ],
      [
        { code: 'publication_refused', feed: 'property', reason: 'invalid_body', refusals: 3 },
        'Hill & Co: what “website” publishes is refused (invalid_body): 3 refusals within 2 h',
        'publications',
      ],
      [{ code: 'consumer_silent' }, 'Hill & Co: no requests from “website” for 2 h', 'consumers'],
      [
        { code: 'key_ending', endsAt: ago(-50 * hourMs) },
        'Hill & Co: key “website” expires in 2 days, and is in use',
        'keys',
      ],
      [{ code: 'something_new' }, 'Hill & Co: “website”: something_new', 'keys'],
    ]
    for (const [change, sentence, view] of table) {
      const card = faultOf(fault(change), nowMs)
      assert.equal(card.sentence, sentence)
      assert.match(card.action?.path ?? '', new RegExp(`^/tenants/${tenant.tenantId}/${view}`))
    }
    const several = { tenantId: null, tenantName: null, reason: 'key_revoked', refusals: 3 }
    assert.match(saidOf(several), /^Several agencies: key “website” was revoked/)
    assert.equal(faultOf(fault(several), nowMs).action?.path, `/keys?key=${keyId}`)
  })

  it('has once a consumer that keeps asking and is more than ten minutes behind (D31)', () => {
    const sentences = (known: TenantActivity | undefined) =>
      faultsOfTenant(tenant, known).map(({ sentence }) => sentence)
    for (const known of [undefined, facts, behind(3, 599)]) assert.deepEqual(sentences(known), [])
    const lagging = behind(412, 11_940)
    assert.deepEqual(sentences(lagging), ['Hill & Co: “portal” is 412 events behind, for 3 h'])
    const cards = [faultOf(fault({ code: 'consumer_silent' }), nowMs), ...faultsOfTenant(tenant, lagging)]
    assert.deepEqual(distinctFaults(cards), cards.slice(0, 1), 'one that is silent is told of as that alone')
  })

  it('has each finding of the service that is not ok, with its remedy (PROTOCOL §12.10)', () => {
    const faults = faultsOfService({
      status: 'fail',
      items: [
        { check: 'disk', status: 'ok', detail: 'fine', remedy: null },
        {
          check: 'epoch',
          status: 'fail',
          detail: 'Publishing waits.',
          remedy: 'property-events epoch start',
        },
      ],
    })
    assert.deepEqual(
      faults.map(({ sentence, remedy, isBad }) => ({ sentence, remedy, isBad })),
      [{ sentence: 'epoch: Publishing waits.', remedy: 'property-events epoch start', isBad: true }],
    )
    assert.deepEqual(faultsOfService(undefined), [])
  })
})
