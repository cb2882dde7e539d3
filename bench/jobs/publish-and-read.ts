/** J1 and J4 at the same time: what publishing at full rate does to readers, and readers to publishing. */
import { execFileSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { postgresDurability, sqliteDurability } from '../peers/loops.ts'
import { beside, measure } from '../support/measure.ts'
import { postgresReading } from '../support/postgres-reading.ts'
import { startPostgres } from '../support/postgres.ts'
import { publicationBodies, publishPath } from '../support/publications.ts'
import { checkAnswers, pageTarget, readingSet } from '../support/reading-set.ts'
import type { ReadingSet } from '../support/reading-set.ts'
import { getCase, postCase } from '../support/requests.ts'
import { startService } from '../support/service.ts'
import type { RunningService } from '../support/service.ts'
import type { BenchOptions } from './context.ts'

/** Publishing goes into a copy, so the store has a size that is copied quickly. */
const mostEvents = 100_000

export async function benchPublishAndRead(options: BenchOptions): Promise<void> {
  const set = await readingSet(Math.min(options.events, mostEvents), options.averageBytes)
  const folder = join(options.folder, 'publish-and-read')
  cpSync(set.folder, folder, { recursive: true, filter: (path) => !path.endsWith('/static') })
  // A gigabyte that still has to be written would hold up every flush of the first runs.
  execFileSync('sync')
  await using service = await startService(folder)
  await checkAnswers(service, set)
  await measureBoth(options, '', service, set, sqliteDurability)
}

/** A separate database, which is filled for this job. */
export async function benchPublishAndReadOnPostgres(options: BenchOptions): Promise<void> {
  const set = await readingSet(Math.min(options.events, mostEvents), options.averageBytes)
  await using postgres = await startPostgres()
  const { key, start } = await postgresReading(options, postgres, set, [''])
  execFileSync('sync')
  await using service = await start()
  await measureBoth(options, ' on PostgreSQL', service, { ...set, key }, postgresDurability)
}

/** Only reading, only publishing, and both. */
async function measureBoth(
  options: BenchOptions,
  engine: '' | ' on PostgreSQL',
  service: RunningService,
  set: ReadingSet,
  durability: string,
): Promise<void> {
  const us = `property-events${engine}`
  const where = engine && `,${engine}`
  const reading = getCase(options, {
    subject: us,
    what: 'page of 100, alone',
    server: service,
    key: set.key,
    targets: Array.from({ length: set.pages }, (_, index) => pageTarget(index + 1, 100)),
  })
  const publishing = (events: number, connections: number) =>
    postCase(options, {
      subject: us,
      events,
      connections,
      server: service,
      path: publishPath,
      keys: [set.key],
      what: `${events} event${events === 1 ? '' : 's'}, ${connections} publishers, alone`,
      durability,
      bodies: publicationBodies(options.averageBytes, events),
    })
  const [singles, batches] = [publishing(1, 50), publishing(100, 4)]
  await measure(options, 'J4', [
    reading,
    singles,
    batches,
    beside('page of 100, while single events are published', reading, singles),
    beside('page of 100, while batches are published', reading, batches),
    beside('1 event, 50 publishers, while pages are read', singles, reading),
    beside('100 events, 4 publishers, while pages are read', batches, reading),
  ])
  for (const what of ['single events', 'batches']) {
    options.aim({
      job: 'J4',
      text: `reading while ${what} are published at full rate${where}: p99 alone`,
      figure: 'p99Ms',
      ours: {
        subject: us,
        what: `page of 100, while ${what} are published`,
      },
      theirs: {
        subject: us,
        what: 'page of 100, alone',
      },
      wanted: { atMost: 2 },
    })
  }
}
