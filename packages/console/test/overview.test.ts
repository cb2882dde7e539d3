/** What the overview shows of an agency, and what of it needs somebody. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Consumer, Tenant } from '../src/service/answers.ts'
import {
  faultsOfService,
  faultsOfTenant,
  furthestText,
  hasMoved,
  headOf,
  lastDay,
  liveOf,
  refusedOf,
  standingOf,
} from '../src/views/overview/tenant-row.ts'

const tenant: Tenant = {
  tenantId: '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10',
  name: 'Hill & Co',
  reference: null,
  suspended: false,
  leaving: null,
  deletion: null,
  createdAt: '2026-01-01T00:00:00Z',
}

function consumer(change: Partial<Consumer>): Consumer {
  return {
    keyId: '4fgHt8Kq2LmN',
    name: 'default',
    label: 'website',
    ended: null,
    lastAskedAt: null,
    lastStatus: null,
    lastRoute: null,
    acknowledged: null,
    refused: null,
    views: [{ view: 'all', through: 7, lagEvents: 0, lagSeconds: 0 }],
    ...change,
  }
}
const reading = (...items: readonly Consumer[]) => ({ consumers: { items, next: null } })
const lag = (lagEvents: number, lagSeconds: number) => [{ view: 'all', through: 7, lagEvents, lagSeconds }]

describe('a row of the overview', () => {
  it('has dots for what has not come yet (D31)', () => {
    for (const text of [headOf({}), liveOf({}), furthestText({}), refusedOf({})]) assert.equal(text, '…')
  })

  it('names the consumer that lacks most, in events and time, and none whose key has ended (PROTOCOL §14.4)', () => {
    const far = consumer({ label: 'portal', name: 'north', views: lag(412, 4 * 3_600) })
    const ended = consumer({ label: 'old', ended: 'key_revoked', views: lag(9_000, 1) })
    assert.equal(furthestText(reading(consumer({}), far, ended)), 'portal, north 412 · 4 h')
    assert.equal(furthestText(reading(consumer({}))), 'website 0')
    assert.equal(furthestText(reading()), 'nobody reads it')
  })

  it('asks again only for an agency that has published since (D31)', () => {
    const now = { ...tenant, lastPublishedAt: '2026-03-01T09:00:00.0000000' }
    assert.equal(hasMoved(now, now), false)
    assert.equal(hasMoved(tenant, now), true)
    assert.deepEqual(lastDay(Date.UTC(2026, 2, 1, 9, 31)), {
      from: '2026-02-28T10:00:00Z',
      to: '2026-03-01T10:00:00Z',
      buckets: 24,
    })
  })

  it('says where an agency is suspended, leaves or is being deleted (PROTOCOL §12.2)', () => {
    assert.equal(standingOf(tenant), undefined)
    assert.equal(standingOf({ ...tenant, suspended: true }), 'suspended')
    assert.match(standingOf({ ...tenant, deletion: { id: 'x', state: 'exporting' } }) ?? '', /deleted/)
  })
})

describe('what needs somebody', () => {
  const sentences = (...items: readonly Consumer[]) =>
    faultsOfTenant(tenant, reading(...items)).map(({ sentence }) => sentence)

  it('is a consumer that is refused, or whose key has ended and is still used (PROTOCOL §14.4)', () => {
    const refused = { code: 'key_expired', since: null, count: 72 }
    assert.deepEqual(sentences(consumer({ ended: 'key_expired', refused })), [
      'Hill & Co: key “website” has expired, and is still used: 72 refusals',
    ])
    assert.deepEqual(sentences(consumer({ ended: 'key_expired' })), [], 'nobody misses it')
    assert.match(
      sentences(consumer({ refused: { ...refused, code: 'key_scope', count: 1 } }))[0] ?? '',
      /1 refusal$/,
    )
  })

  it('is a consumer that lacks events for more than ten minutes, and none that reads a moment later (D31)', () => {
    assert.deepEqual(sentences(consumer({ views: lag(3, 599) })), [])
    assert.deepEqual(sentences(consumer({ label: 'portal', views: lag(412, 11_940) })), [
      'Hill & Co: “portal” is 412 events behind, the first of them for 3 h',
    ])
  })

  it('is each finding of the service that is not ok, with its remedy (PROTOCOL §12.10)', () => {
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
