/** J1 and J4: polls for fresh events, by time and by number, alone and beside 50 publishers; both engines, each with the load's other core to itself. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { postgresDurability, sqliteDurability } from '../peers/loops.ts'
import { beside, measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { loadCore, runPinned } from '../support/pinned.ts'
import { startPostgres } from '../support/postgres.ts'
import { checkFeed, checkPublishing, publicationBodies, publishPath } from '../support/publications.ts'
import { postCase } from '../support/requests.ts'
import { startService } from '../support/service.ts'
import type { RunningService } from '../support/service.ts'
import { benchFeed, emptyStore, keysOf } from '../support/store.ts'
import type { StorePlace } from '../support/store.ts'
import { loadFigures } from '../support/wrk.ts'
import type { BenchOptions } from './context.ts'

/** A client asks this long after its last answer: 16 of them some 300 times a second, so that alone none waits for another. */
const pauseMs = 50
const script = join(import.meta.dirname, '../load/fresh.ts')

export async function benchFresh(options: BenchOptions): Promise<void> {
  const folder = join(options.folder, 'fresh-sqlite')
  await measureOn(options, 'property-events on SQLite', sqliteDurability, { kind: 'sqlite', folder }, folder)
  await using postgres = await startPostgres()
  const place = { kind: 'postgres', url: postgres.url } as const
  const nodeFolder = join(options.folder, 'fresh-postgres')
  const us = 'property-events on PostgreSQL'
  await measureOn(options, us, postgresDurability, place, nodeFolder, () => postgres.cpuS())
}

async function measureOn(
  options: BenchOptions,
  subject: string,
  durability: string,
  place: StorePlace,
  folder: string,
  databaseCpuS: () => number = () => 0,
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  await (await emptyStore(place, 1)).close()
  const [key = ''] = await keysOf(place, folder, [benchFeed.tenantId])
  await using started = await startService(folder, {
    args: place.kind === 'sqlite' ? [] : ['--database', place.url],
  })
  const service = { ...started, cpuS: () => started.cpuS() + databaseCpuS() }
  const publishing = postCase(options, {
    subject,
    what: '1 event, 50 publishers, alone',
    events: 1,
    durability,
    server: service,
    connections: 50,
    path: publishPath,
    keys: [key],
    bodies: publicationBodies(options.averageBytes, 1),
  })
  const [body = ''] = publicationBodies(options.averageBytes, 100)
  await checkPublishing(service, key, body)
  await publishing.run(options.seconds)
  const polls = (['time', 'number'] as const).map((by) => pollCase(options, subject, service, key, by))
  await measure(options, 'fresh', [
    ...polls,
    publishing,
    ...polls.map((poll) => beside(`${poll.what}, beside 50 publishers`, poll, publishing)),
    ...polls.map((poll) => beside(`1 event, 50 publishers, beside ${poll.what}`, publishing, poll)),
  ])
  await checkFeed(service, key)
  for (const { what } of polls) {
    for (const [figure, atMost] of [
      ['p50Ms', 2],
      ['p99Ms', 3],
    ] as const) {
      options.aim({
        job: 'fresh',
        text: `${subject}, ${what}, beside 50 publishers: ${figure} alone`,
        figure,
        ours: { subject, what: `${what}, beside 50 publishers` },
        theirs: { subject, what },
        wanted: { atMost },
      })
    }
  }
}

function pollCase(
  options: BenchOptions,
  subject: string,
  service: RunningService,
  key: string,
  by: 'time' | 'number',
): Case {
  const { connections } = options
  return {
    subject,
    what: `poll by ${by}`,
    run: (seconds) =>
      loadFigures(service, () => {
        const limits = [String(connections), String(seconds), String(pauseMs)]
        return runPinned(loadCore, process.execPath, [script, service.url, key, by, ...limits])
      }),
  }
}
