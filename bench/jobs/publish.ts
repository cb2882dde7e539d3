/** J4 on SQLite: durable publishing, beside a bare loop that writes the same rows, and beside the usual way. */
import { join } from 'node:path'
import { startProgram } from '../peers/bare-node.ts'
import { commitOf, sqliteDurability, sqliteLoop } from '../peers/loops.ts'
import { usualKey } from '../peers/usual.ts'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { checkFeed, checkPublishing, publicationBodies, publishPath } from '../support/publications.ts'
import { postCase } from '../support/requests.ts'
import { startService } from '../support/service.ts'
import type { RunningServer } from '../support/server.ts'
import type { RunningService } from '../support/service.ts'
import { emptyStore, keysOf, tenantIdOf } from '../support/store.ts'
import type { BenchOptions } from './context.ts'

const feeds = 50
const us = 'property-events'
export const usual = 'the usual way'

export const onePublisher = '1 event, 1 publisher'
export const fiftyPublishers = '1 event, 50 publishers, 50 feeds'
export const batchesOfOne = '100 events, 1 publisher'

export async function benchPublishing(options: BenchOptions): Promise<void> {
  const [folder, loopFolder] = [join(options.folder, 'publish'), join(options.folder, 'publish-loop')]
  await (await emptyStore({ kind: 'sqlite', folder }, feeds)).close()
  await (await emptyStore({ kind: 'sqlite', folder: loopFolder }, 1)).close()
  const tenants = Array.from({ length: feeds }, (_, index) => tenantIdOf(index))
  const keys = await keysOf({ kind: 'sqlite', folder }, folder, tenants)
  await using service = await startService(folder)
  const file = join(options.folder, 'usual.db')
  await using usualServer = await startProgram('usual-sqlite-server.ts', [file, usualKey])
  const [body = ''] = publicationBodies(options.averageBytes, 100)
  await checkPublishing(service, keys[0] ?? '', body)
  await measure(options, 'J4', [
    sqliteLoop(options, loopFolder, 1),
    ...publishCases(options, us, service, keys, sqliteDurability),
    sqliteLoop(options, loopFolder, 50),
    sqliteLoop(options, loopFolder, 100),
    usualCase(options, usualServer, onePublisher, 1, 1, sqliteDurability),
    usualCase(options, usualServer, '1 event, 50 publishers, 1 feed', 1, 50, sqliteDurability),
    usualCase(options, usualServer, batchesOfOne, 100, 1, sqliteDurability),
  ])
  await checkFeed(service, keys[0] ?? '')
  const aim = (text: string, mine: string, other: string, wanted: number, subject = 'better-sqlite3 loop') =>
    options.aim({
      job: 'J4',
      text,
      figure: 'eventsPerSecond',
      wanted: { atLeast: wanted },
      ours: {
        subject: us,
        what: mine,
      },
      theirs: {
        subject,
        what: other,
      },
    })
  aim('SQLite, 1 event a commit: of the bare loop', onePublisher, commitOf(1), 0.8)
  aim('SQLite, 100 events a commit: of the bare loop', batchesOfOne, commitOf(100), 0.8)
  aim('SQLite, 50 publishers of single events: times one publisher', fiftyPublishers, onePublisher, 5, us)
  const cpu = (text: string, what: string, wanted: number) =>
    options.aim({
      job: 'J4',
      text,
      figure: 'cpuMicrosecondsPerRequest',
      wanted: { atMost: wanted },
      ours: { subject: us, what },
      theirs: { subject: usual, what },
    })
  cpu('SQLite, 1 event: processor time of the usual way', onePublisher, 1.3)
  cpu('SQLite, 100 events: processor time of the usual way', batchesOfOne, 1.5)
}

/** The same bodies for the usual way, which has one feed. */
export function usualCase(
  options: BenchOptions,
  server: RunningServer,
  what: string,
  events: number,
  connections: number,
  durability: string,
): Case {
  return postCase(options, {
    subject: usual,
    what,
    events,
    durability,
    server,
    connections,
    path: '/events',
    keys: [usualKey],
    bodies: publicationBodies(options.averageBytes, events),
  })
}

/** The same publishing on any engine: each feed's publishers have their own key. */
export function publishCases(
  options: BenchOptions,
  subject: string,
  server: RunningService,
  keys: readonly string[],
  durability: string,
): readonly Case[] {
  const of = (what: string, events: number, connections: number, feedCount: number): Case =>
    postCase(options, {
      subject,
      what,
      events,
      durability,
      server,
      connections,
      path: publishPath,
      keys: keys.slice(0, feedCount),
      bodies: publicationBodies(options.averageBytes, events),
    })
  return [
    of(onePublisher, 1, 1, 1),
    of('1 event, 50 publishers, 1 feed', 1, 50, 1),
    of(fiftyPublishers, 1, 50, feeds),
    of(batchesOfOne, 100, 1, 1),
    of('100 events, 50 publishers, 1 feed', 100, 50, 1),
  ]
}
