/** J5: many clients poll a head that does not change, beside a bare handler that answers 304 to everything. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startProgram } from '../peers/bare-node.ts'
import { ask } from '../support/ask-postgres.ts'
import { caseResult, rounded } from '../support/figures.ts'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { startPostgres } from '../support/postgres.ts'
import { listPath } from '../support/reading-set.ts'
import { get, getCase } from '../support/requests.ts'
import type { RunningServer } from '../support/server.ts'
import { startService } from '../support/service.ts'
import { benchFeed, emptyStore, filledStore, fillStorage, keysOf } from '../support/store.ts'
import type { BenchOptions } from './context.ts'

const clients = 50
const onPostgresEvents = 1_000
const [withTag, withoutTag] = ['unchanged, with If-None-Match', 'unchanged, without']

export async function benchIdle(options: BenchOptions): Promise<void> {
  const store = await filledStore(options.events, options.averageBytes)
  const [key = ''] = await keysOf({ kind: 'sqlite', folder: store.folder }, store.folder, store.tenantIds)
  await using onSqlite = await startService(store.folder)
  await using postgres = await startPostgres()
  const place = { kind: 'postgres', url: postgres.url } as const
  const folder = join(options.folder, 'idle-postgres')
  mkdirSync(folder)
  {
    await using storage = await emptyStore(place, 1)
    await fillStorage(storage, onPostgresEvents, options.averageBytes)
  }
  const [postgresKey = ''] = await keysOf(place, folder, [benchFeed.tenantId])
  await using onPostgres = await startService(folder, { args: ['--database', postgres.url] })
  await using bare = await startProgram('bare-304.ts')

  const bareCase = getCase(options, {
    subject: 'bare handler',
    what: '304 to everything',
    server: bare,
    connections: clients,
    key,
    tag: `"${'0'.repeat(32)}"`,
    targets: [`${listPath}?page=${options.events}`],
  })
  const sqliteCases = await pollCases(options, 'property-events on SQLite', onSqlite, key, options.events)
  const subject = 'property-events on PostgreSQL'
  const both = { ...onPostgres, cpuS: () => onPostgres.cpuS() + postgres.cpuS() }
  const postgresCases = await pollCases(options, subject, both, postgresKey, onPostgresEvents)
  await measure(options, 'J5', [bareCase, ...sqliteCases, ...postgresCases])
  await countStatements(options, postgres.url, postgresCases)
  for (const engine of ['property-events on SQLite', subject]) {
    options.aim({
      job: 'J5',
      text: `${engine}, ${withTag}: of the bare handler`,
      figure: 'requestsPerSecond',
      ours: {
        subject: engine,
        what: withTag,
      },
      theirs: {
        subject: 'bare handler',
        what: '304 to everything',
      },
      wanted: { atLeast: 0.8 },
    })
  }
}

/** What the polls of one more run of each case query from the database. */
async function countStatements(options: BenchOptions, url: string, cases: readonly Case[]): Promise<void> {
  const before = await commitsOf(url)
  const runs = []
  for (const entry of cases) runs.push(await entry.run(options.seconds))
  const polls = runs.reduce((sum, run) => sum + run.requestsPerSecond * options.seconds, 0)
  const queriesPerRequest = rounded(((await commitsOf(url)) - before) / polls)
  const [subject, what] = ['property-events on PostgreSQL', 'statements during all these polls']
  options.report({ ...caseResult('J5', subject, what, runs), queriesPerRequest })
  options.aim({
    job: 'J5',
    text: 'an idle poll asks no store: statements a poll',
    figure: 'queriesPerRequest',
    ours: { subject, what },
    theirs: 1,
    wanted: { atMost: 0.01 },
  })
}

/** The page after the last event, requested again and again. */
async function pollCases(
  options: BenchOptions,
  subject: string,
  server: RunningServer,
  key: string,
  events: number,
): Promise<readonly Case[]> {
  const target = `${listPath}?page=${Math.floor(events / 100) + 1}`
  const headers = { 'x-api-key': key, 'accept-encoding': 'identity' }
  const first = await get(`${server.url}${target}`, headers)
  const tag = String(first.headers['etag'])
  const again = await get(`${server.url}${target}`, { ...headers, 'if-none-match': tag })
  if (first.status !== 200 || again.status !== 304 || again.bytes.length > 0) {
    throw new Error(`an unchanged page answered ${first.status}, then ${again.status}`)
  }
  const common = { subject, server, key, targets: [target], connections: clients }
  return [
    getCase(options, { ...common, what: withTag, tag }),
    getCase(options, { ...common, what: withoutTag }),
  ]
}

/** Transactions that PostgreSQL has run; its sessions report them up to 10 s late. */
async function commitsOf(url: string): Promise<number> {
  await delay(11_000)
  const [row] = await ask<{ commits: string }>(
    url,
    'SELECT xact_commit AS commits FROM pg_stat_database WHERE datname = current_database()',
  )
  return Number(row?.commits)
}
