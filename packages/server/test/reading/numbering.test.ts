/** Events with other numbers for their types: nothing else of their bytes changes, and no length. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues, feedNames } from '@property-events/protocol'
import type { EventTypeCatalogue, FeedName } from '@property-events/protocol'
import * as fc from 'fast-check'
import { numberingsOver, renumber } from '../../src/reading/representation/numbering.ts'

/** As stores have them, with codes and numbers of their own. */
const catalogue: EventTypeCatalogue = {
  property: {
    PropertyPublished: 2 ** 53 - 1,
    PropertyUnpublished: 41,
    PropertyUpdated: 7,
    PropertyViewed: 12,
  },
  contact: { ContactCreated: 10, ContactUpdated: 0, ContactErased: 2, ContactCalled: 100 },
}

/** Texts that look like the members that are looked for. */
const payloads = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '{"eventType":5,"eventTypeShortCode":"PropertyUpdated"}',
    ',"eventType":1,"eventTypeShortCode":"PropertyPublished","payload":"',
    '"},{"tenantId":"',
    'x\\"},{"tenantId":"',
  ),
)

function events(feed: FeedName) {
  const event = fc.record({
    tenantId: fc.uuid(),
    sequenceNumber: fc.integer({ min: 1, max: 2 ** 40 }),
    code: fc.constantFrom(...Object.keys(catalogue[feed])),
    payload: payloads,
    id: fc.uuid(),
  })
  return fc.array(event, { minLength: 1, maxLength: 12 }).map((given) =>
    given.map(({ tenantId, sequenceNumber, code, payload, id }) => ({
      tenantId,
      sequenceNumber,
      eventType: catalogue[feed][code] ?? 0,
      eventTypeShortCode: code,
      payload,
      transactionId: id,
      id,
      createdDate: '2025-01-31T00:00:00.0000000',
    })),
  )
}

describe('another numbering', () => {
  for (const feed of feedNames) {
    it(`changes the numbers of all ${feed} events in joined bytes, and nothing else (D12, P9)`, () => {
      const numbering = numberingsOver(catalogue)('published-0', feed)
      assert.ok(numbering)
      fc.assert(
        fc.property(events(feed), (given) => {
          const text = given.map((event) => JSON.stringify(event)).join(',')
          const bytes = Buffer.from(text)
          renumber(bytes, numbering)
          const codes = catalogues['published-0'][feed]
          const expected = given.map((event) => {
            const eventType = codes[event.eventTypeShortCode] ?? event.eventType
            return { ...event, eventType }
          })
          assert.deepEqual(JSON.parse(`[${bytes.toString()}]`), expected)
          assert.equal(bytes.byteLength, Buffer.byteLength(text))
          const once = bytes.toString()
          renumber(bytes, numbering)
          assert.equal(bytes.toString(), once)
        }),
      )
    })
  }

  it('leaves pieces without an event unchanged, and is none if the numbers are those of the store (D12)', () => {
    const of = numberingsOver(catalogues.default)
    assert.equal(of(undefined, 'property'), undefined)
    assert.equal(of('default', 'property'), undefined)
    assert.equal(of('published-0', 'contact'), undefined)
    const numbering = of('published-0', 'property')
    assert.ok(numbering)
    for (const text of ['', ',']) {
      const bytes = Buffer.from(text)
      renumber(bytes, numbering)
      assert.equal(bytes.toString(), text)
    }
  })
})
