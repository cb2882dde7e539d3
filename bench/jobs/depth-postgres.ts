/** J1 at depth on PostgreSQL, straight from the store: the first and the last page of the same events in both engines. */
import { measure } from '../support/measure.ts'
import { postgresReading } from '../support/postgres-reading.ts'
import { startPostgres } from '../support/postgres.ts'
import { pageTarget, readingSet } from '../support/reading-set.ts'
import { getCase } from '../support/requests.ts'
import { startService } from '../support/service.ts'
import type { BenchOptions } from './context.ts'

/** Without ready-made pages: each page is read from the store. */
const args = ['--page-memory-bytes', '0', '--page-file-bytes', '0']

export async function benchDepthOnPostgres(options: BenchOptions): Promise<void> {
  const set = await readingSet(options.events, options.averageBytes)
  await using postgres = await startPostgres()
  const { key, start } = await postgresReading(options, postgres, set, [])
  await using onPostgres = await start(args)
  await using onSqlite = await startService(set.folder, { args })

  const subjects = [
    { subject: 'property-events on SQLite', server: onSqlite, key: set.key },
    { subject: 'property-events on PostgreSQL', server: onPostgres, key },
  ]
  const [first, last] = ['first page', `last page of ${set.pages}`]
  await measure(
    options,
    'J1',
    subjects.flatMap((from) => [
      getCase(options, { ...from, what: first, targets: [pageTarget(1, 100)] }),
      getCase(options, { ...from, what: last, targets: [pageTarget(set.pages, 100)] }),
    ]),
  )
  for (const { subject } of subjects) {
    options.aim({
      job: 'J1',
      text: `the last page from the store, ${subject.replace('property-events ', '')}: time of the first`,
      figure: 'p50Ms',
      ours: { subject, what: last },
      theirs: { subject, what: first },
      wanted: { atMost: 1.1 },
    })
  }
}
