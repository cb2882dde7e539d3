/**
 * How tenants affect each other: a tenant publishes a single event now and then, alone, beside three that publish full batches without
 * end, and while somebody else's session holds the feed of another tenant.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { postgresDurability, sqliteDurability } from '../peers/loops.ts'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { loadCore, runPinned } from '../support/pinned.ts'
import { startPostgres } from '../support/postgres.ts'
import { checkFeed, checkPublishing, publicationBodies, publishPath } from '../support/publications.ts'
import { postCase } from '../support/requests.ts'
import { untilQuiet } from '../support/server.ts'
import { startService } from '../support/service.ts'
import type { RunningService } from '../support/service.ts'
import { emptyStore, keysOf, tenantIdOf } from '../support/store.ts'
import { listFile, loadFigures } from '../support/wrk.ts'
import type { BenchOptions } from './context.ts'

const feeds = 55
const us = 'property-events'
/** The events of one tenant, published like those of a system that changes a property now and then. */
const eventsPerSecond = 20
const alone = '1 event now and then, alone'
const besideBatches = '1 event now and then, beside 3 tenants with batches of 1,000'
const besideLock = '1 event now and then, another feed locked'
const fifty = '1 event, 50 publishers, 50 feeds'
const fiftyBesideLock = `${fifty}, another one locked`

/** A tenant's keys and bodies, and the service that they go to. */
interface Place {
  readonly subject: string
  readonly durability: string
  readonly service: RunningService
  /** The tenants, in order: 50 that publish much, 3 with full batches, one now and then, one that is locked. */
  readonly keys: readonly string[]
}

export async function benchFairness(options: BenchOptions): Promise<void> {
  await benchOnSqlite(options)
  await using postgres = await startPostgres()
  const folder = join(options.folder, 'fairness-postgres')
  mkdirSync(folder)
  const store = { kind: 'postgres', url: postgres.url } as const
  const keys = await newStore(store, folder)
  await using service = await startService(folder, { args: ['--database', postgres.url] })
  const both = { ...service, cpuS: () => service.cpuS() + postgres.cpuS() }
  const place: Place = { subject: us, durability: postgresDurability, service: both, keys }
  const locked: Background = (seconds) => holdFeed(options, place, postgres.url, seconds)
  await warm(options, place)
  await measure(options, 'fairness', [
    nowAndThen(options, place, alone),
    nowAndThen(options, place, besideLock, locked),
    nowAndThen(options, place, besideBatches, (seconds) => publishBatches(options, place, seconds)),
    fiftyPublishers(options, place, fifty),
    fiftyPublishers(options, place, fiftyBesideLock, locked),
  ])
  await checkFeed(service, keys[53] ?? '')
  const aim = (text: string, ours: string, theirs: string, atMost: number): void =>
    options.aim({
      job: 'fairness',
      text,
      figure: 'p50Ms',
      wanted: { atMost },
      ours: { subject: us, what: ours },
      theirs: { subject: us, what: theirs },
    })
  aim('PostgreSQL, another feed locked, 1 event: median of alone', besideLock, alone, 1.5)
  aim('PostgreSQL, another feed locked, 50 publishers: median of alone', fiftyBesideLock, fifty, 1.5)
  aim('PostgreSQL, three tenants with full batches: median of alone', besideBatches, alone, 5)
}

async function benchOnSqlite(options: BenchOptions): Promise<void> {
  const folder = join(options.folder, 'fairness-sqlite')
  const keys = await newStore({ kind: 'sqlite', folder }, folder)
  await using service = await startService(folder)
  const place: Place = { subject: `${us} on SQLite`, durability: sqliteDurability, service, keys }
  await warm(options, place)
  await measure(options, 'fairness', [
    nowAndThen(options, place, alone),
    nowAndThen(options, place, besideBatches, (seconds) => publishBatches(options, place, seconds)),
  ])
  await checkFeed(service, keys[53] ?? '')
}

async function newStore(store: Parameters<typeof emptyStore>[0], folder: string): Promise<readonly string[]> {
  await (await emptyStore(store, feeds)).close()
  return keysOf(
    store,
    folder,
    Array.from({ length: feeds }, (_, index) => tenantIdOf(index)),
  )
}

/** The load beside the measurement, for about this many seconds. */
type Background = (seconds: number) => Promise<void>

const nothing: Background = () => Promise.resolve()

/** Events of the 54th tenant, at a steady pace. */
function nowAndThen(options: BenchOptions, place: Place, what: string, meanwhile = nothing): Case {
  const { subject, durability, service, keys } = place
  const bodies = listFile(options.folder, 'fairness-bodies-1', publicationBodies(options.averageBytes, 1))
  return {
    subject,
    what,
    events: 1,
    durability,
    async run(seconds) {
      const others = meanwhile(seconds)
      const [figures] = await Promise.all([
        loadFigures(service, () => publishSteadily(service.url, keys[53] ?? '', bodies, seconds)),
        others,
      ])
      await untilQuiet(service)
      return figures
    },
  }
}

function fiftyPublishers(options: BenchOptions, place: Place, what: string, meanwhile = nothing): Case {
  const { subject, durability, service, keys } = place
  const publishing = postCase(options, {
    subject,
    what,
    events: 1,
    durability,
    server: service,
    connections: 50,
    path: publishPath,
    keys: keys.slice(0, 50),
    bodies: publicationBodies(options.averageBytes, 1),
  })
  return {
    ...publishing,
    warmRuns: 1,
    async run(seconds) {
      const [figures] = await Promise.all([publishing.run(seconds), meanwhile(seconds)])
      return figures
    },
  }
}

/** A single event runs through much code once: V8 compiles the last of it after some ten seconds. */
async function warm(options: BenchOptions, place: Place): Promise<void> {
  const [body = ''] = publicationBodies(options.averageBytes, 1)
  await checkPublishing(place.service, place.keys[53] ?? '', `[${body}]`)
  const publishing = fiftyPublishers(options, place, 'warming')
  for (let run = 0; run < 3; run += 1) await publishing.run(options.seconds)
}

function publishSteadily(url: string, key: string, bodies: string, seconds: number): Promise<string> {
  const script = join(import.meta.dirname, '../load/steady.ts')
  const limits = [String(eventsPerSecond), String(seconds)]
  return runPinned(loadCore, process.execPath, [script, url, publishPath, key, ...limits, bodies])
}

/** Three tenants, each with one batch after another. */
async function publishBatches(options: BenchOptions, place: Place, seconds: number): Promise<void> {
  const bodies = publicationBodies(options.averageBytes, 1_000)
  const { subject, service, keys } = place
  const server = { ...service, cpuS: () => 0 }
  await Promise.all(
    keys.slice(50, 53).map(async (key) => {
      const facts = { subject, what: 'batches', server, path: publishPath, connections: 1 }
      const { errors } = await postCase(options, { ...facts, keys: [key], bodies }).run(seconds)
      if (errors > 0) throw new Error(`${errors} batches were answered with errors`)
    }),
  )
}

/** Another session holds the feed of the 55th tenant, who keeps publishing. */
async function holdFeed(
  options: BenchOptions,
  place: Place,
  databaseUrl: string,
  seconds: number,
): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('BEGIN')
  await client.query('SELECT FROM feed WHERE tenant = $1 FOR UPDATE', [tenantIdOf(54)])
  const bodies = listFile(
    options.folder,
    'fairness-bodies-locked',
    publicationBodies(options.averageBytes, 1),
  )
  const publishing = publishSteadily(place.service.url, place.keys[54] ?? '', bodies, seconds)
  await delay(seconds * 1_000)
  await client.query('ROLLBACK')
  await client.end()
  await publishing
}
