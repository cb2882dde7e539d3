/** J5: many clients poll a feed in which nothing happens, by tag and by time, beside a bare handler and Fastify. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startProgram } from '../peers/bare-node.ts'
import { ask } from '../support/ask-postgres.ts'
import { caseResult, rounded } from '../support/figures.ts'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { startPostgres } from '../support/postgres.ts'
import { listPath } from '../support/reading-set.ts'
import { get, getCase, getOk } from '../support/requests.ts'
import type { RunningServer } from '../support/server.ts'
import { startService } from '../support/service.ts'
import { benchFeed, emptyStore, filledStore, fillStorage, keysOf } from '../support/store.ts'
import type { BenchOptions } from './context.ts'

const clients = 50
const onPostgresEvents = 1_000
const [withTag, withoutTag, byTime] = [
  'unchanged, with If-None-Match',
  'unchanged, without',
  'by time, nothing found',
]
const overNode = 'unchanged, with If-None-Match, through Node’s HTTP'
const fastifyName = 'Fastify, a ready buffer'

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
  await using fastify = await startProgram('ready-buffer.ts', [await emptyWindow(options, onSqlite, key)])
  const fastifyCase = (what: string, tag?: string) =>
    getCase(options, {
      subject: fastifyName,
      what,
      server: fastify,
      connections: clients,
      key,
      ...(tag === undefined ? {} : { tag }),
      targets: [`${listPath}?page=${options.events}`],
    })
  const sqliteCases = await pollCases(options, 'property-events on SQLite', onSqlite, key, options.events)
  const subject = 'property-events on PostgreSQL'
  const both = { ...onPostgres, cpuS: () => onPostgres.cpuS() + postgres.cpuS() }
  const postgresCases = await pollCases(options, subject, both, postgresKey, onPostgresEvents)
  const fastifyCases = [fastifyCase(withTag, '"head"'), fastifyCase(byTime)]
  await measure(options, 'J5', [bareCase, ...fastifyCases, ...sqliteCases, ...postgresCases])
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
    options.aim({
      job: 'J5',
      text: `${engine}, ${byTime}: processor time of Fastify’s`,
      figure: 'cpuMicrosecondsPerRequest',
      ours: {
        subject: engine,
        what: byTime,
      },
      theirs: {
        subject: fastifyName,
        what: byTime,
      },
      wanted: { atMost: 1 },
    })
  }
}

/** A file with the answer to a poll by time that finds nothing. */
async function emptyWindow(options: BenchOptions, server: RunningServer, key: string): Promise<string> {
  const path = join(options.folder, 'empty-window.json')
  writeFileSync(
    path,
    await getOk(server.url + (await lastTime(server, key, options.events)), { 'x-api-key': key }),
  )
  return path
}

/** The target of the poll of a client of the contract: everything after the last time that it has seen. */
async function lastTime(server: RunningServer, key: string, events: number): Promise<string> {
  const answer = await getOk(`${server.url}${listPath}?page=${events}&pageSize=1`, { 'x-api-key': key })
  const { items }: { items: readonly { createdDate: string }[] } = JSON.parse(answer.toString())
  const lastMs = Date.parse(`${items[0]?.createdDate}Z`)
  const target = `${listPath}?from=${new Date(lastMs + 1).toISOString()}`
  const found: { items: unknown[] } = JSON.parse(
    (await getOk(server.url + target, { 'x-api-key': key })).toString(),
  )
  if (found.items.length > 0) throw new Error(`${target} finds ${found.items.length} events`)
  return target
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
  // A target with its host is what only Node's HTTP reads.
  const absolute = `http://127.0.0.1${target}`
  return [
    getCase(options, { ...common, what: withTag, tag }),
    getCase(options, { ...common, what: overNode, tag, targets: [absolute] }),
    getCase(options, { ...common, what: withoutTag }),
    getCase(options, { ...common, what: byTime, targets: [await lastTime(server, key, events)] }),
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
