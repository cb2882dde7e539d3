/** Tables of feeds that are odd, beside what a website has made itself, and in places that refuse. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createClient } from '@property-events/client'
import type { Publication } from '@property-events/client'
import { Client } from 'pg'
import { launchPostgres } from '../../server/test/postgres/launch-postgres.ts'
import { startTestService } from '../../server/test/support/test-service.ts'
import type { TestService } from '../../server/test/support/test-service.ts'
import { until } from '../../server/test/support/until.ts'
import { runUntil } from '../../cli/test/support/program.ts'
import { openSqliteTables } from '../src/sqlite-tables.ts'
import { openPlace, tableEngines, tablesIn } from './support/places.ts'
import type { TableEngine, TablePlace } from './support/places.ts'
import { syncHere } from './support/sync-here.ts'

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
const refOf = (index: number) => `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`
const shown = (index: number, more: object = {}): Publication => ({
  payload: { agent_ref: refOf(index), published: true, status: 1, ...more },
})

async function publish(service: TestService, ...events: readonly Publication[]): Promise<void> {
  await createClient({ baseUrl: service.url, key: service.tenant.publishKey }).publish(events)
}

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

  it('are those of a feed without an event, and of one in which everything has gone', async () => {
    assert.deepEqual([(await syncHere(service, place)).held], [0])
    const [row] = await place.rows('SELECT is_empty, caught_up_at FROM listing_sync')
    assert.equal(row?.['is_empty'], true)
    assert.ok(row?.['caught_up_at'] !== null)
    await publish(service, shown(1), shown(2))
    await publish(service, { remove: { agentRef: refOf(1) } }, { remove: { agentRef: refOf(2) } })
    assert.deepEqual((await syncHere(service, place)).held, 0)
    // Empty is right here, and no reason to read everything again.
    assert.deepEqual((await syncHere(service, place)).readAgain, [])
    const { listings, removed } = await tablesIn(place)
    assert.deepEqual([listings.length, removed.map(({ reference }) => reference)], [0, [refOf(1), refOf(2)]])
  })

  it('hold 5,000 photographs of one listing, none of another, and long texts in any script', async () => {
    const text = 'Ünïcödé 🏡 漢字 '.repeat(9_000).trim()
    const media = Array.from({ length: 5_000 }, (_, index) => ({
      media_type: 1,
      media_url: `http://a.b/${index}`,
    }))
    await publish(service, shown(11, { media }))
    await publish(service, shown(12, { details: { description: `<p>${text}</p>` } }))
    await syncHere(service, place)
    await publish(service, shown(11, { media: media.slice(1) }))
    await syncHere(service, place)
    const { listings, media: kept } = await tablesIn(place)
    const [many, none] = listings
    const first = kept.find(({ position }) => position === 1)
    assert.deepEqual(
      [many?.['photograph_count'], many?.['main_photograph'], kept.length, first?.['url']],
      [4_999, 'http://a.b/1', 4_999, 'http://a.b/1'],
    )
    assert.deepEqual([none?.['photograph_count'], none?.['main_photograph']], [0, null])
    assert.equal(none?.['description_text'], text)
  })

  it('leave views, indexes, columns and tables that a website has added as they are', async () => {
    await place.run(`
      CREATE TABLE own_notes (reference text PRIMARY KEY, note text);
      INSERT INTO own_notes VALUES ('${refOf(12)}', 'call Ada');
      CREATE INDEX own_index ON listings (town);
      ALTER TABLE listings ADD COLUMN own_rank integer DEFAULT 7;
      ALTER TABLE listing_media ADD COLUMN own_width integer;
      ALTER TABLE listing_removed ADD COLUMN own_reason text;
      ALTER TABLE listing_sync ADD COLUMN own_mark text;
      CREATE VIEW own_view AS SELECT f.reference, o.note FROM for_sale f JOIN own_notes o ON o.reference = f.reference;`)
    await place.run(`UPDATE listings SET own_rank = 1 WHERE reference = '${refOf(12)}'`)
    await publish(service, shown(12, { price_information: { price: 5 } }), shown(13))
    await publish(service, shown(14), { remove: { agentRef: refOf(11) } })
    await service.storage.startEpoch(1_000_000, 'cli:test')
    const { readAgain } = await syncHere(service, place)
    assert.deepEqual(readAgain, ['epoch_changed'])
    const ranks = await place.rows(`SELECT CAST(own_rank AS text) AS rank FROM listings ORDER BY reference`)
    assert.deepEqual(
      ranks.map(({ rank }) => rank),
      ['1', '7', '7'],
    )
    assert.deepEqual(await place.rows('SELECT note FROM own_view'), [{ note: 'call Ada' }])
  })
}

describe('an SQLite file', () => {
  it('that may not be written is refused, with nothing left beside it that would be in the way later', async () => {
    const place = await openPlace('sqlite')
    await (await openSqliteTables(place.file, '')).close()
    const file = `${place.file}.shared.db`
    copyFileSync(place.file, file)
    await asSomebody([dirname(place.file), file], async () => {
      chmodSync(file, 0o444)
      await assert.rejects(
        openSqliteTables(file, ''),
        /shared\.db cannot be written: it, or its folder, is read-only/,
      )
      chmodSync(file, 0o644)
      await (await openSqliteTables(file, '')).close()
    })
    await place.close()
  })

  it('is said to be on a disk that takes nothing, also where even the lock cannot be written', async () => {
    const place = await openPlace('sqlite')
    const door = join(import.meta.dirname, '../../cli/bin/property-events.mjs')
    const sync = [process.execPath, door, 'sync', place.target, '--url', 'http://127.0.0.1:1', '--key', 'k']
    // Without a byte that may be written to a file: as on a broken disk, and much as on a full one.
    const { status, stderr } = spawnSync('/bin/sh', ['-c', 'ulimit -f 0 && exec "$0" "$@"', ...sync], {
      encoding: 'utf8',
    })
    assert.equal(status, 1)
    assert.match(stderr, /website\.db cannot be read or written: the disk reports an error/)
    await place.close()
  })
})

/** As a user for whom permissions count: root may write everything. */
async function asSomebody(files: readonly string[], work: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return work()
  for (const file of files) chownSync(file, 65_534, 65_534)
  process.seteuid?.(65_534)
  try {
    await work()
  } finally {
    process.seteuid?.(0)
  }
}

describe('a PostgreSQL that is gone for a while', { skip: isLong ? false : 'in test:long' }, () => {
  it('is waited for by a sync that follows, which then goes on in the same tables', async () => {
    const service = await startTestService()
    const server = await launchPostgres()
    const events = Array.from({ length: 400 }, (_, index) =>
      shown(index, { details: { description: 'x'.repeat(2_000) } }),
    )
    await publish(service, ...events)
    const environment = { PROPERTY_EVENTS_URL: service.url, PROPERTY_EVENTS_KEY: service.tenant.readKey }
    const running = await runUntil(
      ['sync', server.url(), '--follow'],
      new Promise((resolve) => setTimeout(resolve, 1_500)),
      { environment },
    )
    for (const mode of ['crash', 'fast'] as const) {
      await server.halt(mode)
      await publish(service, ...events.slice(0, 200))
      await server.start()
    }
    const newest = `SELECT count(*) AS n FROM listings WHERE sequence_number > 600`
    const isThere = async () => {
      const client = new Client({ connectionString: server.url() })
      await client.connect()
      const { rows } = await client.query<{ n: string }>(newest).catch(() => ({ rows: [] }))
      await client.end()
      return rows[0]?.n === '200'
    }
    await until(isThere, { what: 'the last changes', timeoutMs: 120_000, everyMs: 500 })
    const { code, stderr } = await running.stop()
    assert.equal(code, 0, stderr)
    assert.match(stderr, /cannot be used at the moment.*Trying again in/)
    await server[Symbol.asyncDispose]()
    await service.stop()
  })
})
