/** Tables are the fold of the feed wherever a sync was killed: both engines against a fold written for this test. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@property-events/client'
import { pick, randomOf } from '../../client/test/support/random.ts'
import { startTestService } from '../../server/test/support/test-service.ts'
import type { TestService } from '../../server/test/support/test-service.ts'
import { until } from '../../server/test/support/until.ts'
import { foldRun, newFold } from './support/fold.ts'
import type { Fold, FoldEvent, Payload, Place } from './support/fold.ts'
import { openPlace, tableEngines, tablesIn } from './support/places.ts'
import type { Row, TableEngine, TablePlace } from './support/places.ts'

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
const stops = Number(process.env['PROPERTY_EVENTS_TEST_TABLE_STOPS'] ?? (isLong ? 100 : 3))
const seed = Number(process.env['PROPERTY_EVENTS_TEST_SEED'] ?? 6)
const batchSize = 10
const subjects = Array.from(
  { length: 60 },
  (_, index) => `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`,
)
const program = join(import.meta.dirname, 'support/sync-in-small-batches.ts')
const killer = join(import.meta.dirname, '../../../examples/kill-at-commit.ts')

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

    it(`are the fold of the feed after each of ${stops} stops and a new epoch in their midst`, async (context) => {
      const random = randomOf(seed)
      const publisher = createClient({ baseUrl: service.url, key: service.tenant.publishKey })
      const tried: Tried = { service, place, fold: await beginFold(service, place), folded: 0 }
      await publisher.publish(subjects.map((ref) => shown(ref, random)))
      await syncAndFold(tried)
      const seen = { killed: 0, inSnapshot: 0, beforeSweep: 0, resumedLater: 0 }
      for (let stop = 1; stop <= stops; stop += 1) {
        const wasInSnapshot = tried.fold.place.kind === 'snapshot'
        await publisher.publish(
          subjects.filter(() => random() < 0.5).map((ref) => publicationOf(ref, random)),
        )
        if (stop % 3 === 1) {
          await addStray(tried, `stray-${stop}`)
          await service.storage.startEpoch(1_000_000 * stop, 'cli:test')
          await publisher.publish(publicationOf(subjects[0] ?? '', random))
        } else if (wasInSnapshot) seen.resumedLater += 1
        // A read of the whole feed has some eight batches, one of what is new four.
        const readsAll = stop % 3 === 1 || wasInSnapshot
        const commit = `${random() < 0.5 ? 'before' : 'after'} ${1 + pick(random, readsAll ? 8 : 4)}`
        const killAfterMs = random() * 200
        const { signal, code, stderr } = await syncAndFold(
          tried,
          stop % 5 === 0 ? { afterMs: killAfterMs } : { commit },
        )
        assert.ok(signal === 'SIGKILL' || code === 0, stderr)
        if (signal === 'SIGKILL') seen.killed += 1
        if (tried.fold.place.kind === 'snapshot') seen.inSnapshot += 1
        else if (tried.fold.place.sweeping) seen.beforeSweep += 1
        if (random() < 0.2) assert.equal((await syncAndFold(tried)).code, 0)
      }
      context.diagnostic(`seed ${seed}, ${stops} stops: ${JSON.stringify(seen)}`)
      assert.ok(seen.killed >= stops / 2, `${seen.killed} of ${stops} were killed before their end`)
      // What is hard: a snapshot that was cut, and is resumed after more was published.
      assert.ok(seen.resumedLater >= Math.floor(stops / 10), JSON.stringify(seen))
      const last = await syncAndFold(tried)
      assert.equal(last.code, 0, last.stderr)
      await assertLatest(service, place)
    })
  })
}

interface Tried {
  readonly service: TestService
  readonly place: TablePlace
  readonly fold: Fold
  /** Batches that are in the fold. */
  folded: number
}

/** Makes the tables while the feed is empty. */
async function beginFold(service: TestService, place: TablePlace): Promise<Fold> {
  assert.equal((await sync(service, place)).code, 0)
  await place.run(noteCheckpoints[place.engine])
  const [row] = await place.rows('SELECT checkpoint FROM listing_sync')
  return newFold(placeOf(row?.['checkpoint']))
}

/** A listing that no feed has, as after a restore of the service: the next read of the whole feed takes it away. */
async function addStray({ place, fold }: Tried, reference: string): Promise<void> {
  const [like] = fold.listings.values()
  assert.ok(like !== undefined)
  await place.run(`CREATE TEMPORARY TABLE stray AS SELECT * FROM listings WHERE reference = '${like.reference}';
    UPDATE stray SET reference = '${reference}';
    INSERT INTO listings SELECT * FROM stray;
    DROP TABLE stray;`)
  fold.listings.set(reference, { ...like, reference })
}

/** One run, after which the tables are compared with the fold. */
async function syncAndFold(tried: Tried, kill?: Kill) {
  const { service, place, fold } = tried
  const ended = await sync(service, place, kill)
  await until(() => place.isLeft(), { what: 'the end of the killed session' })
  const committed = (await place.rows('SELECT checkpoint FROM noted ORDER BY n')).slice(tried.folded)
  foldRun(
    fold,
    await eventsOf(service),
    committed.map(({ checkpoint }) => placeOf(checkpoint)),
  )
  tried.folded += committed.length
  await assertFolded(fold, place)
  return ended
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

interface Kill {
  /** `before 2`: before the second COMMIT is sent; `after 2`: once it is answered. */
  readonly commit?: string
  /** After the tables are open. */
  readonly afterMs?: number
}

/** One run in a process of its own, killed at a commit, or after a time. */
async function sync(service: TestService, place: TablePlace, { commit, afterMs }: Kill = {}) {
  const loaded = commit === undefined ? [] : ['--import', killer]
  const args = [...loaded, program, place.target, service.url, service.tenant.readKey, String(batchSize)]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, KILL_AT_COMMIT: commit ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (text) => (stderr += String(text)))
  const isOpen = once(child.stdout, 'data')
  const ended = once(child, 'close')
  if (afterMs !== undefined) {
    await Promise.race([ended, isOpen.then(() => delay(afterMs))])
    child.kill('SIGKILL')
  }
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null]
  return { code, signal, stderr }
}

/** Events that were read before, by id: most of the feed is the same each time. */
const known = new Map<string, FoldEvent>()

async function eventsOf(service: TestService): Promise<readonly FoldEvent[]> {
  const reader = createClient({ baseUrl: service.url, key: service.tenant.readKey })
  const events: FoldEvent[] = []
  for await (const { id, sequenceNumber: number, createdDate, payload } of reader.list({ pageSize: 1_000 })) {
    const event = known.get(id) ?? {
      number,
      publishedAt: `${createdDate.slice(0, 23)}Z`,
      payload: JSON.parse(payload) as Payload,
    }
    known.set(id, event)
    events.push(event)
  }
  return events
}

function placeOf(checkpoint: unknown): Place {
  const { reading, sweep } = JSON.parse(checkpoint as string) as {
    reading: { kind: Place['kind']; epoch?: string; after?: number; head?: number }
    sweep: boolean
  }
  const { kind, epoch = '', after = 0, head = 0 } = reading
  return { kind, epoch, after, head, sweeping: sweep }
}

async function assertFolded(fold: Fold, place: TablePlace): Promise<void> {
  const { listings, media, removed } = await tablesIn(place)
  const columns = Object.keys(fold.listings.values().next().value ?? {})
  const shown = listings.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])))
  const byReference = <T>(map: ReadonlyMap<string, T>) =>
    [...map].toSorted(([one], [other]) => (one < other ? -1 : 1))
  assert.deepEqual(
    shown,
    byReference(fold.listings).map(([, listing]) => ({ ...listing })),
  )
  const urls = byReference(fold.media).flatMap(([reference, list]) =>
    list.map((url, index) => [reference, index + 1, url]),
  )
  assert.deepEqual(
    media.map((row) => [row['reference'], row['position'], row['url']]),
    urls,
  )
  // No event dates what a read of the whole feed has found.
  const dateOf = ({ reference, removed_at: at }: Row) =>
    fold.removed.get(reference as string) === 'swept' ? 'swept' : at
  assert.deepEqual(
    removed.map((row) => [row['reference'], dateOf(row)]),
    byReference(fold.removed),
  )
}

/** And, when it has ended by itself, it is what the feed says now, whatever the batches were. */
async function assertLatest(service: TestService, place: TablePlace): Promise<void> {
  const latest = new Map<string, Payload>()
  for (const { payload } of await eventsOf(service)) latest.set(payload.agent_ref, payload)
  const shown = [...latest.values()].filter(({ published }) => published).map(({ agent_ref: ref }) => ref)
  const { listings } = await tablesIn(place)
  assert.deepEqual(
    listings.map(({ reference }) => reference),
    shown.toSorted(),
  )
}
