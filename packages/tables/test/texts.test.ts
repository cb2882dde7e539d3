/** Texts of every kind in every text column: Welsh, £, dashes, emoji, right to left, and what programs write in place of them. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createClient } from '@property-events/client'
import type { Publication } from '@property-events/client'
import { plainTexts } from '../../client/test/listing/texts.ts'
import { payloadOf } from '../../client/test/listing/text-fields.ts'
import { webAddresses } from '../../protocol/test/payload/web-addresses.ts'
import { startTestService } from '../../server/test/support/test-service.ts'
import type { TestService } from '../../server/test/support/test-service.ts'
import { openPlace, tableEngines, tablesIn } from './support/places.ts'
import type { TableEngine, TablePlace } from './support/places.ts'
import { syncHere } from './support/sync-here.ts'

const refOf = (index: number) => `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`
/** What an import leaves in a reference must not change: it is compared. */
const anyScript = 'Tŷ “Gŵyr” – £495,000 🏡 בית יפה'
const texts = { ...plainTexts, [anyScript]: anyScript }

for (const engine of tableEngines) describe(`tables of ${engine}`, () => casesOf(engine))

function casesOf(engine: TableEngine): void {
  let service: TestService
  let place: TablePlace
  before(async () => {
    service = await startTestService()
    place = await openPlace(engine)
  })
  after(async () => {
    await place.close()
    await service.stop()
  })
  const publish = (...events: readonly Publication[]) =>
    createClient({ baseUrl: service.url, key: service.tenant.publishKey }).publish(events)

  it('hold texts in every script in each column, as readers are shown them (P11)', async () => {
    const written = Object.entries(texts)
    await publish(
      ...written.map(([text], index): Publication => ({
        payload: {
          agent_ref: refOf(index),
          published: true,
          reference: anyScript,
          branch_id: anyScript,
          ...payloadOf(text),
        },
      })),
    )
    await syncHere(service, place)
    const { listings, media } = await tablesIn(place)
    assert.equal(listings.length, written.length)
    for (const [index, [text, shown]] of written.entries()) {
      const row = listings.find(({ reference }) => reference === refOf(index)) ?? assert.fail(text)
      const single = [
        'status',
        'display_address',
        'town',
        'summary_text',
        'description_text',
        'directions_text',
      ]
      for (const column of [...single, 'main_photograph_caption'])
        assert.equal(row[column], shown, `${column}: ${text}`)
      assert.equal(row['price_text'], `${shown} £1`)
      assert.deepEqual(row['features'], [shown])
      assert.deepEqual(row['rooms'], [{ name: shown, description: shown, size: shown }])
      assert.equal(Object(row['address_lines'])[0], shown)
      assert.deepEqual([row['agent_reference'], row['branch_id']], [anyScript, anyScript])
      assert.equal(media.find(({ reference }) => reference === refOf(index))?.['caption'], shown)
    }
    await publish(
      ...written.map(([text], index): Publication => ({
        payload: { agent_ref: refOf(index), published: false, removal_reason: text },
      })),
    )
    await syncHere(service, place, { allowMassRemoval: true })
    const { removed } = await tablesIn(place)
    assert.deepEqual(
      removed.map(({ reason }) => reason),
      written.map(([, shown]) => shown),
    )
  })

  it('hold the addresses that the table of addresses says are shown (P11)', async () => {
    const accepted = webAddresses.filter(({ receipt }) => receipt !== 'refused')
    const media = accepted.map(({ sent }) => ({ media_type: 1, media_url: sent }))
    await publish({ payload: { agent_ref: refOf(900), published: true, media } })
    await syncHere(service, place)
    const rows = await place.rows(
      `SELECT url FROM listing_media WHERE reference = '${refOf(900)}' ORDER BY position`,
    )
    const expected = new Set(accepted.flatMap(({ shown }) => shown ?? []))
    assert.deepEqual(
      rows.map(({ url }) => url),
      [...expected],
    )
  })
}
