/** Whatever stands in a payload, both engines take it, and hold the same. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { readPropertyPayload } from '@property-events/client'
import type { Checkpoint, FeedEvent } from '@property-events/client'

import * as fc from 'fast-check'
import { isUsableReference, removedRow, rowsOf, rowsVersion } from '../src/listing-rows.ts'
import type { ListingTables } from '../src/listing-tables.ts'
import { openTables } from '../src/open-tables.ts'
import { readTableTarget } from '../src/open-tables.ts'
import { openPlace, tableEngines, tablesIn } from './support/places.ts'
import type { TablePlace } from './support/places.ts'

const checkpoint: Checkpoint = {
  format: 'property-events-checkpoint/1',
  feed: 'property',
  apiEventType: null,
  tenantId: null,
  reading: { kind: 'start' },
  sweep: false,
  opens: false,
  applied: {},
  pending: {},
  removals: null,
}

function eventOf(payload: string, changes: Partial<FeedEvent> = {}): FeedEvent {
  return {
    tenantId: 't',
    sequenceNumber: 1,
    eventType: 0,
    eventTypeShortCode: 'PropertyPublished',
    payload,
    transactionId: 'x',
    id: 'e1',
    createdDate: '2026-01-31T09:30:00.1234567',
    ...changes,
  }
}

/** Texts that databases and pages have trouble with. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '\u0000',
    'a\u0000b',
    '\ud800',
    'x\udc00y',
    '\u202eexe.jpg',
    "'; DROP TABLE listings; --",
    '\\',
    '\u2028',
  ),
  fc.constant('<p onclick="x()">A &amp; B<script>alert(1)</script>'),
  fc.constant('long '.repeat(4_000)),
)
const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(0, -0, 1e300, -1e300, 5e-324, 2 ** 31, -(2 ** 31), 2 ** 53, 1e12, 0.1),
)
const anything = fc.oneof(
  { weight: 3, arbitrary: text },
  { weight: 3, arbitrary: number },
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.oneof(text, number, fc.constant(null)), { maxLength: 4 }),
  fc.dictionary(text, fc.oneof(text, number), { maxKeys: 3 }),
  fc.constantFrom('31-01-2026', '31-01-0001', '29-02-2025', '31-12-9999 23:59:59'),
)
const recordOf = (...names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, anything])), { requiredKeys: [] })
const mediaItem = fc.record(
  {
    media_type: fc.oneof(fc.integer({ min: 0, max: 9 }), anything),
    media_url: fc.oneof(
      fc.constantFrom('https://x.example/1.jpg', 'http://x.example/\u0000.jpg', 'javascript:1'),
      anything,
    ),
    caption: anything,
    sort_order: anything,
    media_update_date: anything,
  },
  { requiredKeys: [] },
)
const payload = fc.record(
  {
    status: anything,
    statusstring: anything,
    property_type: anything,
    branch_id: anything,
    reference: anything,
    date_available: anything,
    create_date: anything,
    update_date: anything,
    principal: anything,
    'odd \u0000 \ud800 name': anything,
    address: recordOf('display_address', 'house_name_number', 'town', 'postcode_1', 'latitude', 'longitude'),
    price_information: recordOf(
      'price',
      'price_qualifier',
      'price_qualifier_string',
      'rent_frequency',
      'deposit',
      'tenure_type',
      'tenure_unexpired_years',
    ),
    details: fc.oneof(
      recordOf(
        'bedrooms',
        'bathrooms',
        'features',
        'summary',
        'description',
        'rooms',
        'heating',
        'parking',
        'internal_area',
        'internal_area_unit',
        'council_tax_band',
        'furnished_type',
      ),
      anything,
    ),
    media: fc.oneof(fc.array(mediaItem, { maxLength: 4 }), anything),
  },
  { requiredKeys: [] },
)

const emptied = 'DELETE FROM listings; DELETE FROM listing_media; DELETE FROM listing_removed;'

describe('tables of SQLite and PostgreSQL', () => {
  const places: TablePlace[] = []
  const tables: ListingTables[] = []
  before(async () => {
    for (const engine of tableEngines) {
      const place = await openPlace(engine)
      const target = readTableTarget(place.target)
      assert.ok(target !== undefined)
      places.push(place)
      tables.push(await openTables(target, { prefix: '', schema: undefined }))
    }
  })
  after(async () => {
    for (const table of tables) await table.close()
    for (const place of places) await place.close()
  })

  async function writeEverywhere(
    payloads: readonly string[],
    removals: readonly string[] = [],
  ): Promise<void> {
    const rows = payloads.map((text) => {
      const { value } = readPropertyPayload(text)
      assert.ok(value !== undefined)
      return rowsOf({
        tenant: 'main',
        reference: randomUUID(),
        property: value,
        event: eventOf(text),
        category: undefined,
      })
    })
    const batch = {
      tenant: 'main',
      listings: rows.map(({ listing }) => listing),
      media: rows.flatMap(({ media }) => media),
      removed: removals.map((text) =>
        removedRow(
          'main',
          { kind: 'remove', subjectId: randomUUID(), sequenceNumber: 2, event: eventOf(text), quirks: [] },
          0,
        ),
      ),
      checkpoint,
      rowsVersion,
      nowMs: 0,
    }
    for (const table of tables) {
      if ((await table.load('main')) === undefined) assert.equal(await table.count('main'), 0)
      await table.write(batch)
    }
  }

  async function assertEqual(): Promise<void> {
    const [sqlite, postgres] = await Promise.all(places.map((place) => tablesIn(place)))
    assert.deepEqual(postgres, sqlite)
  }

  it('take any payload, and hold the same rows of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(payload, { minLength: 1, maxLength: 20 }), async (payloads) => {
        // Each run looks at rows of its own alone, so that a failure is made small and names its payload and seed.
        for (const place of places) await place.run(emptied)
        const texts = payloads.map((value) => JSON.stringify(value))
        const removals = texts.map((text) => text.replace('{', '{"removal_reason":"a\\u0000b",'))
        await writeEverywhere(texts, removals)
        await assertEqual()
      }),
      { numRuns: process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 500 : 10 },
    )
  })

  it('leave out of columns what cannot be, and keep it in the payload; what names a person is in neither', async () => {
    const nested = `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`
    await writeEverywhere([
      '{"agent_ref":"odd","details":{"bedrooms":-1,"bathrooms":99999999999,"internal_area":-5},"price_information":{"price":1e300},"principal":{"principal_email_address":"jane@hill.example"}}',
      `{"agent_ref":"deep","x":${nested}}`,
      '{"agent_ref":"empty"}',
    ])
    await assertEqual()
    for (const place of places) {
      const { listings } = await tablesIn(place)
      const odd = listings.find(
        (row) => (row['payload'] as { agent_ref?: string } | null)?.agent_ref === 'odd',
      )
      assert.deepEqual(
        [odd?.['bedrooms'], odd?.['bathrooms'], odd?.['internal_area'], odd?.['price'], odd?.['price_text']],
        [null, null, null, null, null],
      )
      assert.deepEqual(odd?.['payload'], {
        agent_ref: 'odd',
        details: { bedrooms: -1, bathrooms: 99_999_999_999, internal_area: -5 },
        price_information: { price: 1e300 },
      })
    }
  })

  it('hold no name of a person, whatever form that has in the payload', async () => {
    const forms = [
      '"Jane Example"',
      '["Jane Example"]',
      '{"principal_name":"Jane Example"}',
      '{"\\u0000":["Jane Example"]}',
    ]
    await writeEverywhere(forms.map((form) => `{"agent_ref":"named","principal":${form}}`))
    for (const place of places) {
      const { listings } = await tablesIn(place)
      assert.ok(listings.some((row) => JSON.stringify(row['payload']).includes('named')))
      assert.doesNotMatch(JSON.stringify(listings), /Jane/)
    }
  })

  it('have no room for references that no index takes', () => {
    assert.ok(isUsableReference(randomUUID()))
    assert.ok(isUsableReference('Hill & Co/42'))
    for (const reference of ['x'.repeat(201), 'a\u0000b', '\ud800']) assert.ok(!isUsableReference(reference))
  })
})

describe('the row of a removed home', () => {
  const nowMs = Date.UTC(2026, 10, 28, 9, 30)
  const removal = { kind: 'remove', subjectId: randomUUID(), sequenceNumber: 0, quirks: [] } as const

  it('has the time at which a new read of the feed found it gone, where no event dates it', () => {
    const { removed_at, reason, is_erased } = removedRow('main', removal, nowMs)
    assert.deepEqual([removed_at, reason, is_erased], ['2026-11-28T09:30:00.000Z', null, false])
  })

  it('has the time of the event that removed it, whenever that is read', () => {
    const { removed_at } = removedRow('main', { ...removal, event: eventOf('{}') }, nowMs)
    assert.equal(removed_at, '2026-01-31T09:30:00.123Z')
  })

  it('says of an erased home only that it was erased, even if its payload still has a reason (D17)', () => {
    const payload = JSON.stringify({ erased: true, removal_reason: 'Wedi’i gwerthu – £450,000 🏡' })
    const row = removedRow('main', { ...removal, event: eventOf(payload) }, nowMs)
    assert.deepEqual([row.is_erased, row.reason_code, row.reason], [true, null, null])
  })
})
