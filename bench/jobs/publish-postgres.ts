/** J4 on PostgreSQL: beside bare loops that write the same rows, and beside the usual way. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { commitOf, postgresDurability, postgresLoop } from '../peers/loops.ts'
import { fillUsual, startUsual } from '../peers/usual.ts'
import { measure } from '../support/measure.ts'
import { startPostgres } from '../support/postgres.ts'
import { checkFeed, checkPublishing, publicationBodies } from '../support/publications.ts'
import { startService } from '../support/service.ts'
import { benchFeed, emptyStore, keysOf, tenantIdOf } from '../support/store.ts'
import type { BenchOptions } from './context.ts'
import { batchesOfOne, fiftyPublishers, onePublisher, publishCases, usual, usualCase } from './publish.ts'

const feeds = 50
const us = 'property-events'

export async function benchPublishingOnPostgres(options: BenchOptions): Promise<void> {
  await using postgres = await startPostgres()
  const [store, loop, other] = await databases(postgres.url, ['store', 'loop', 'usual'])
  const folder = join(options.folder, 'publish-postgres')
  mkdirSync(folder)
  await (await emptyStore({ kind: 'postgres', url: store }, feeds)).close()
  await (await emptyStore({ kind: 'postgres', url: loop }, 1)).close()
  await fillUsual(other, benchFeed.tenantId, [])
  const tenants = Array.from({ length: feeds }, (_, index) => tenantIdOf(index))
  const keys = await keysOf({ kind: 'postgres', url: store }, folder, tenants)
  await using service = await startService(folder, { args: ['--database', store] })
  await using usualServer = await startUsual({ ...postgres, url: other })
  const [body = ''] = publicationBodies(options.averageBytes, 100)
  await checkPublishing(service, keys[0] ?? '', body)
  const both = { ...service, cpuS: () => service.cpuS() + postgres.cpuS() }
  const loops = (events: number) =>
    (['unnest', 'copy'] as const).map((way) => postgresLoop(options, loop, way, events))
  const [single, batches] = [loops(1), loops(100)]
  const results = await measure(options, 'J4', [
    ...single,
    ...publishCases(options, us, both, keys, postgresDurability),
    ...batches,
    usualCase(options, usualServer, onePublisher, 1, 1, postgresDurability),
    usualCase(options, usualServer, '1 event, 50 publishers, 1 feed', 1, 50, postgresDurability),
    usualCase(options, usualServer, batchesOfOne, 100, 1, postgresDurability),
  ])
  await checkFeed(service, keys[0] ?? '')
  const best = (events: number): string => {
    const those = results.filter(({ subject, what }) => subject.endsWith('loop') && what === commitOf(events))
    return those.toSorted((a, b) => (b.eventsPerSecond ?? 0) - (a.eventsPerSecond ?? 0))[0]?.subject ?? ''
  }
  const aim = (text: string, mine: string, subject: string, what: string, atLeast: number) =>
    options.aim({
      job: 'J4',
      text,
      figure: 'eventsPerSecond',
      wanted: { atLeast },
      ours: {
        subject: us,
        what: mine,
      },
      theirs: {
        subject,
        what,
      },
    })
  aim('PostgreSQL, 1 event a commit: of the best bare loop', onePublisher, best(1), commitOf(1), 0.8)
  aim('PostgreSQL, 100 events a commit: of the best bare loop', batchesOfOne, best(100), commitOf(100), 0.8)
  aim('PostgreSQL, 50 publishers of single events: times one', fiftyPublishers, us, onePublisher, 5)
  aim('PostgreSQL, 1 event: times the usual way', onePublisher, usual, onePublisher, 1)
  aim('PostgreSQL, 100 events: times the usual way', batchesOfOne, usual, batchesOfOne, 1)
}

/** New databases on a server, and their addresses. */
async function databases(
  url: string,
  names: readonly [string, string, string],
): Promise<readonly [string, string, string]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  for (const name of names) await client.query(`CREATE DATABASE bench_${name}`)
  await client.end()
  const [first, second, third] = names
  const address = (name: string): string => url.replace(/\/postgres$/, `/bench_${name}`)
  return [address(first), address(second), address(third)]
}
