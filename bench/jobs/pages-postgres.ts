/** J1 on PostgreSQL: ranges this node has read before, beside the same pages from SQLite; other sizes, a category, windows. */
import { measure } from '../support/measure.ts'
import { otherTargets } from '../support/page-targets.ts'
import { postgresReading } from '../support/postgres-reading.ts'
import { startPostgres } from '../support/postgres.ts'
import { pageTarget, readingSet, salesFilter } from '../support/reading-set.ts'
import { getCase } from '../support/requests.ts'
import type { RunningServer } from '../support/server.ts'
import { startService } from '../support/service.ts'
import type { BenchOptions } from './context.ts'

/** This measures the node and its ready-made pages; the database is asked only for positions. */
const mostEvents = 100_000

export async function benchPagesOnPostgres(options: BenchOptions): Promise<void> {
  const set = await readingSet(Math.min(options.events, mostEvents), options.averageBytes)
  await using postgres = await startPostgres()
  const { key, start } = await postgresReading(options, postgres, set, ['', salesFilter])
  const args = ['--page-memory-bytes', '0']
  await using onPostgres = await start(args)
  await using onSqlite = await startService(set.folder, { args })

  const of =
    (subject: string, server: RunningServer, key: string) => (what: string, targets: readonly string[]) =>
      [false, true].map((gzip) =>
        getCase(options, { subject, what: gzip ? `${what}, gzip` : what, server, key, gzip, targets }),
      )
  const sqlite = of('property-events on SQLite', onSqlite, set.key)
  const ours = of('property-events on PostgreSQL', onPostgres, key)
  const pages = Array.from({ length: set.pages }, (_, index) => pageTarget(index + 1, 100))
  await measure(options, 'J1', [...sqlite('page of 100', pages), ...ours('page of 100', pages)])
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
  const others = await otherTargets(onPostgres, key, set.events)
  await measure(
    options,
    'J1',
    others.flatMap(([what, targets]) => [...sqlite(what, targets), ...ours(what, targets)]),
  )
}
