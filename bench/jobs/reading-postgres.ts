/** J2, J3 and J6 on PostgreSQL, beside the same events on SQLite: an event by its id, everything in order, a start. */
import { measure } from '../support/measure.ts'
import { postgresReading } from '../support/postgres-reading.ts'
import { startPostgres } from '../support/postgres.ts'
import { byIdPath, readingSet } from '../support/reading-set.ts'
import { getCase } from '../support/requests.ts'
import { startService } from '../support/service.ts'
import { catchUpCase, catchUpOf, catchUpPaths } from './catch-up.ts'
import type { BenchOptions } from './context.ts'
import { askedIds } from './events.ts'
import { startCase } from './start-up.ts'

const [onSqlite, onPostgres] = ['property-events on SQLite', 'property-events on PostgreSQL']
/** As for pages: the node has read them all before, and the rest does not depend on their number. */
const mostEvents = 100_000
const event = 'one event'

export async function benchReadingOnPostgres(options: BenchOptions): Promise<void> {
  const set = await readingSet(Math.min(options.events, mostEvents), options.averageBytes)
  const { events } = set
  await using postgres = await startPostgres()
  const reading = await postgresReading(options, postgres, set, [''])
  const first = `first page of ${events} events`
  await measure(options, 'J6', [
    startCase({
      subject: onSqlite,
      what: first,
      events,
      key: set.key,
      start: () => startService(set.folder),
    }),
    startCase({
      subject: onPostgres,
      what: first,
      events,
      key: reading.key,
      start: () => startService(reading.folder, { args: reading.args }),
    }),
  ])

  await using sqlite = await startService(set.folder)
  await using node = await reading.start()
  const subjects = [
    { subject: onSqlite, server: sqlite, key: set.key },
    { subject: onPostgres, server: node, key: reading.key },
  ]
  const targets = askedIds(set).map((id) => `${byIdPath}/${id}`)
  await measure(
    options,
    'J2',
    subjects.map((from) => getCase(options, { ...from, what: event, targets })),
  )
  const paths = catchUpPaths(options.folder, events)
  const codings = ['identity', 'gzip'] as const
  await measure(
    options,
    'J3',
    codings.flatMap((coding) =>
      subjects.map(({ subject, server, key }) => catchUpCase(subject, server, paths, events, coding, key)),
    ),
  )
  for (const [job, text, what, figure] of [
    ['J2', 'one event by id', event, 'requestsPerSecond'],
    ...codings.map(
      (coding) => ['J3', catchUpOf(events, coding), catchUpOf(events, coding), 'eventsPerSecond'] as const,
    ),
  ] as const) {
    options.aim({
      job,
      text: `${text}, on PostgreSQL: as on SQLite`,
      figure,
      ours: { subject: onPostgres, what },
      theirs: { subject: onSqlite, what },
      wanted: { atLeast: 0.9 },
    })
  }
}
