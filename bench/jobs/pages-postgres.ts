/** J1 on PostgreSQL: ranges this node has read before, beside the same pages from SQLite. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { measure } from '../support/measure.ts'
import { startPostgres } from '../support/postgres.ts'
import { checkAnswers, pageTarget, readingSet, sealAll } from '../support/reading-set.ts'
import { getCase } from '../support/requests.ts'
import type { RunningServer } from '../support/server.ts'
import { startService } from '../support/service.ts'
import { benchFeed, emptyStore, fillStorage, keysOf } from '../support/store.ts'
import type { BenchOptions } from './context.ts'

/** What is measured here is the node and its ready-made pages; the database is asked for positions only. */
const mostEvents = 100_000

export async function benchPagesOnPostgres(options: BenchOptions): Promise<void> {
  const events = Math.min(options.events, mostEvents)
  const set = await readingSet(events, options.averageBytes)
  await using postgres = await startPostgres()
  const place = { kind: 'postgres', url: postgres.url } as const
  const folder = join(options.folder, 'postgres-node')
  mkdirSync(folder)
  {
    await using storage = await emptyStore(place, 1)
    await fillStorage(storage, events, options.averageBytes)
  }
  const [key = ''] = await keysOf(place, folder, [benchFeed.tenantId])
  const args = ['--page-memory-bytes', '0']
  await using onPostgres = await startService(folder, { args: [...args, '--database', postgres.url] })
  await sealAll(onPostgres, key, folder, [''])
  await checkAnswers(onPostgres, { ...set, key })
  await using onSqlite = await startService(set.folder, { args })

  const pages = Array.from({ length: set.pages }, (_, index) => pageTarget(index + 1, 100))
  const of = (subject: string, server: RunningServer, key: string, gzip: boolean) =>
    getCase(options, {
      subject,
      what: gzip ? 'page of 100, gzip' : 'page of 100',
      server,
      key,
      gzip,
      targets: pages,
    })
  const all: RunningServer = {
    ...onPostgres,
    cpuS: () => onPostgres.cpuS() + postgres.cpuS(),
  }
  await measure(
    options,
    'J1',
    [false, true].flatMap((gzip) => [
      of('property-events on SQLite', onSqlite, set.key, gzip),
      of('property-events on PostgreSQL', all, key, gzip),
    ]),
  )
  for (const what of ['page of 100', 'page of 100, gzip']) {
    options.aim({
      job: 'J1',
      text: `${what}, on PostgreSQL: as on SQLite`,
      figure: 'requestsPerSecond',
      ours: {
        subject: 'property-events on PostgreSQL',
        what,
      },
      theirs: {
        subject: 'property-events on SQLite',
        what,
      },
      wanted: { atLeast: 0.9 },
    })
  }
}
