/** Tables are the fold of the feed wherever a sync was killed: both engines against a fold written for this test. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@property-events/client'
import type { FeedEvent } from '@property-events/client'
import { pick, randomOf } from '../../../client/test/support/random.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { foldOf } from './support/fold.ts'
import type { Payload, Place } from './support/fold.ts'
import { openPlace, tableEngines, tablesIn } from './support/places.ts'
import type { Row, TableEngine, TablePlace } from './support/places.ts'

const stops = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 100 : 3
const batchSize = 10
const subjects = Array.from(
  { length: 60 },
  (_, index) => `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`,
)
const program = join(import.meta.dirname, 'support/sync-in-small-batches.ts')
const killer = join(import.meta.dirname, '../../../../examples/kill-at-commit.ts')

/** Every committed checkpoint, noted by the database itself, in the transaction of the batch. */
const noteCheckpoints: Readonly<Record<TableEngine, string>> = {
  sqlite: `
    CREATE TABLE noted (n INTEGER PRIMARY KEY, checkpoint TEXT NOT NULL);
    CREATE TRIGGER note_first AFTER INSERT ON listing_sync BEGIN INSERT INTO noted (checkpoint) VALUES (new.checkpoint); END;
    CREATE TRIGGER note_next AFTER UPDATE OF checkpoint ON listing_sync BEGIN INSERT INTO noted (checkpoint) VALUES (new.checkpoint); END;`,
  postgres: `
    CREATE TABLE noted (n bigserial PRIMARY KEY, checkpoint text NOT NULL);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO noted (checkpoint) VALUES (new.checkpoint); RETURN new; END';
    CREATE TRIGGER note_it AFTER INSERT OR UPDATE OF checkpoint ON listing_sync FOR EACH ROW EXECUTE FUNCTION note();`,
}

for (const engine of tableEngines) {
  describe(`tables of ${engine}, when syncs are killed`, () => {
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

    it(`are the fold of the feed after each of ${stops} stops and a new epoch in their midst`, async () => {
      const random = randomOf(engine.length)
      const publisher = createClient({ baseUrl: service.url, key: service.tenant.publishKey })
      assert.equal((await sync(service, place)).code, 0)
      await place.run(noteCheckpoints[engine])
      await publisher.publish(subjects.map((ref) => shown(ref, random)))
      let kills = 0
      for (let stop = 1; stop <= stops; stop += 1) {
        await publisher.publish(
          subjects.filter(() => random() < 0.5).map((ref) => publicationOf(ref, random)),
        )
        if (stop % 3 === 0) {
          await service.storage.startEpoch(1_000_000 * stop, 'cli:test')
          await publisher.publish(publicationOf(subjects[0] ?? '', random))
        }
        const moment = `${random() < 0.5 ? 'before' : 'after'} ${1 + pick(random, 4)}`
        const { signal, code, stderr } = await sync(
          service,
          place,
          moment,
          stop % 5 === 0 ? random() * 500 : undefined,
        )
        assert.ok(signal === 'SIGKILL' || code === 0, stderr)
        if (signal === 'SIGKILL') kills += 1
        await assertFolded(service, place)
        if (random() < 0.2) assert.equal((await sync(service, place)).code, 0)
      }
      assert.ok(kills >= stops / 2, `${kills} of ${stops} were killed before their end`)
      const last = await sync(service, place)
      assert.equal(last.code, 0, last.stderr)
      await assertFolded(service, place)
      await assertLatest(service, place)
    })
  })
}

function publicationOf(agentRef: string, random: () => number) {
  return random() < 0.2 ? { remove: { agentRef } } : shown(agentRef, random)
}

function shown(agentRef: string, random: () => number) {
  const price = 1_000 * (1 + pick(random, 900))
  const payload: Payload = {
    agent_ref: agentRef,
    published: true,
    status: random() < 0.5 ? 1 : 2,
    price_information: {
      price,
      ...(random() < 0.1 ? { price_qualifier: 1 } : {}),
      ...(random() < 0.2 ? { rent_frequency: 12 } : {}),
    },
    address: { display_address: `${price} Mill Lane` },
    // Long enough for several pieces of a snapshot, of which each is a batch.
    details: { bedrooms: pick(random, 6), description: 'A house. '.repeat(500) },
    media: Array.from({ length: pick(random, 4) }, (_, index) => ({
      media_type: 1,
      media_url: `https://photos.example/${price}-${index}.jpg`,
      sort_order: 9 - index,
    })),
  }
  return { payload }
}

/** One run in a process of its own, killed at a commit, or after a time. */
async function sync(service: TestService, place: TablePlace, killAtCommit?: string, killAfterMs?: number) {
  const loaded = killAtCommit === undefined ? [] : ['--import', killer]
  const args = [...loaded, program, place.target, service.url, service.tenant.readKey, String(batchSize)]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, KILL_AT_COMMIT: killAtCommit ?? '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (text) => (stderr += String(text)))
  const ended = once(child, 'close')
  if (killAfterMs !== undefined) {
    await Promise.race([ended, delay(killAfterMs)])
    child.kill('SIGKILL')
  }
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null]
  return { code, signal, stderr }
}

async function eventsOf(service: TestService): Promise<readonly FeedEvent[]> {
  const reader = createClient({ baseUrl: service.url, key: service.tenant.readKey })
  return Array.fromAsync(reader.list({ pageSize: 1_000 }))
}

async function placesIn(place: TablePlace): Promise<readonly Place[]> {
  const rows = await place.rows('SELECT checkpoint FROM noted ORDER BY n')
  return rows.map(({ checkpoint }) => {
    const { reading, sweep } = JSON.parse(checkpoint as string) as {
      reading: { kind: Place['kind']; epoch?: string; after?: number; head?: number }
      sweep: boolean
    }
    const { kind, epoch = '', after = 0, head = 0 } = reading
    return { kind, epoch, after, head, swept: !sweep && kind === 'numbers' }
  })
}

async function assertFolded(service: TestService, place: TablePlace): Promise<void> {
  const folded = foldOf(await eventsOf(service), await placesIn(place))
  const { listings, media, removed } = await tablesIn(place)
  const columns = Object.keys(folded.listings.values().next().value ?? {})
  const shown = listings.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])))
  const byReference = <T>(map: ReadonlyMap<string, T>) =>
    [...map].toSorted(([one], [other]) => (one < other ? -1 : 1))
  assert.deepEqual(
    shown,
    byReference(folded.listings).map(([, listing]) => ({ ...listing })),
  )
  const urls = byReference(folded.media).flatMap(([reference, list]) =>
    list.map((url, index) => [reference, index + 1, url]),
  )
  assert.deepEqual(
    media.map((row) => [row['reference'], row['position'], row['url']]),
    urls,
  )
  assert.deepEqual(
    removed.map(({ reference, removed_at: at }: Row) => [reference, at]),
    byReference(folded.removed),
  )
}

/** And, when it has ended by itself, it is what the feed says now, whatever the batches were. */
async function assertLatest(service: TestService, place: TablePlace): Promise<void> {
  const latest = new Map<string, Payload>()
  for (const { payload } of await eventsOf(service)) {
    const value = JSON.parse(payload) as Payload
    latest.set(value.agent_ref, value)
  }
  const shown = [...latest.values()].filter(({ published }) => published).map(({ agent_ref: ref }) => ref)
  const { listings } = await tablesIn(place)
  assert.deepEqual(
    listings.map(({ reference }) => reference),
    shown.toSorted(),
  )
}
