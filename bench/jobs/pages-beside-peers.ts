/** J1 beside the alternatives that people would use: each peer with the same events, a page of 100 at random. */
import { join } from 'node:path'
import { isMissing } from '../peers/missing.ts'
import { pouchTarget, startPouch } from '../peers/pouchdb.ts'
import { startRedis } from '../peers/redis.ts'
import { fillUsual, startUsual, usualKey } from '../peers/usual.ts'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { readIntoPageCache } from '../support/page-cache.ts'
import { startPostgres } from '../support/postgres.ts'
import { checkAnswers, pageTarget, readingSet } from '../support/reading-set.ts'
import { getCase, getOk } from '../support/requests.ts'
import { rowsOf } from '../support/rows.ts'
import { startService } from '../support/service.ts'
import { benchFeed, cacheFolder, storeSeed } from '../support/store.ts'
import type { BenchOptions } from './context.ts'

/** A document store fills slowly; its changes feed costs the same at any depth. */
const mostDocuments = 20_000
const us = 'property-events'
const what = 'page of 100'

export async function benchPagesBesidePeers(options: BenchOptions): Promise<void> {
  const { events, averageBytes } = options
  const set = await readingSet(events, averageBytes)
  await using service = await startService(set.folder, { args: ['--page-memory-bytes', '0'] })
  await checkAnswers(service, set)
  const all = Array.from({ length: set.pages }, (_, index) => index + 1)
  const rows = () => rowsOf({ key: benchFeed, events, averageBytes, seed: storeSeed })
  const ours = getCase(options, {
    subject: us,
    what,
    server: service,
    key: set.key,
    targets: all.map((page) => pageTarget(page, 100)),
  })
  const sealed = join(set.folder, 'sealed-pages')
  await besideUsual(options, ours, sealed, set.pages, rows())
  await besideRedis(options, ours, sealed, all, rows())
  await besidePouch(options, ours, sealed)
}

type Rows = ReturnType<typeof rowsOf>

async function besideUsual(
  options: BenchOptions,
  ours: Case,
  sealed: string,
  pages: number,
  rows: Rows,
): Promise<void> {
  await using postgres = await startPostgres()
  await fillUsual(postgres.url, benchFeed.tenantId, rows)
  await using usual = await startUsual(postgres)
  const median = Math.max(1, Math.floor(pages / 2))
  const offset = (page: number): string => `/events?page=${page}&pageSize=100`
  const keyed = (page: number): string => `/events?after=${(page - 1) * 100}&pageSize=100`
  const headers = { 'x-api-key': usualKey }
  for (const target of [offset(median), keyed(median)]) {
    await checkItems(`${usual.url}${target}`, (median - 1) * 100 + 1, headers)
  }
  const subject = 'the usual way'
  const of = (what: string, targets: readonly string[], connections = options.connections): Case =>
    getCase(options, { subject, what, server: usual, key: usualKey, targets, connections })
  const everywhere = Array.from({ length: pages }, (_, index) => keyed(index + 1))
  // Few at once, so that those of a large store end before the load generator gives up.
  const cases = [
    of(`${what}, keyed`, everywhere),
    of(`${what}, OFFSET at the median depth`, [offset(median)], 2),
  ]
  // Filling the peer has pushed the earlier contents out of the page cache.
  readIntoPageCache(sealed)
  await measure(options, 'J1', [named(ours, `${what}, beside the usual way`), ...cases])
  aim(options, 'the usual way', `${what}, beside the usual way`, `${what}, keyed`, 20)
  aim(options, 'the usual way', `${what}, beside the usual way`, `${what}, OFFSET at the median depth`, 100)
}

async function besideRedis(
  options: BenchOptions,
  ours: Case,
  sealed: string,
  all: readonly number[],
  rows: Rows,
): Promise<void> {
  await using redis = await startRedis(join(options.folder, 'redis'), jsonOf(rows))
  if (isMissing(redis)) return options.skip('Redis and webdis', redis.missing)
  const last = all.length
  await checkItems(`${redis.url}${redis.target(last, 100)}`, (last - 1) * 100 + 1)
  const targets = all.map((page) => redis.target(page, 100))
  const subject = 'Redis and webdis'
  const mine = `${what}, beside Redis`
  // Filling the peer has pushed the earlier contents out of the page cache.
  readIntoPageCache(sealed)
  await measure(options, 'J1', [
    named(ours, mine),
    getCase(options, { subject, what, server: redis, targets }),
  ])
  aim(options, subject, mine, what, 2)
}

async function besidePouch(options: BenchOptions, ours: Case, sealed: string): Promise<void> {
  const { averageBytes } = options
  const events = Math.min(options.events, mostDocuments)
  const few = () => jsonOf(rowsOf({ key: benchFeed, events, averageBytes, seed: storeSeed }))
  await using pouch = await startPouch(cacheFolder, `${events}-${averageBytes}`, few)
  if (isMissing(pouch)) return options.skip('express-pouchdb', pouch.missing)
  const text = await getOk(`${pouch.url}${pouchTarget(100, 100)}`)
  const page: { results: { doc: { payload: string } }[] } = JSON.parse(text.toString())
  if (page.results.length !== 100 || page.results.some(({ doc }) => typeof doc.payload !== 'string')) {
    throw new Error('express-pouchdb does not answer with a page')
  }
  const targets = Array.from({ length: Math.floor(events / 100) }, (_, index) =>
    pouchTarget(index * 100, 100),
  )
  const theirs = `${what}, of ${events} events`
  const mine = `${what}, beside express-pouchdb`
  // Filling the peer has pushed the earlier contents out of the page cache.
  readIntoPageCache(sealed)
  await measure(options, 'J1', [
    named(ours, mine),
    getCase(options, { subject: 'express-pouchdb', what: theirs, server: pouch, targets, connections: 4 }),
  ])
  aim(options, 'express-pouchdb', mine, theirs, 1)
}

function named(entry: Case, what: string): Case {
  return { ...entry, what }
}

function aim(options: BenchOptions, subject: string, mine: string, theirs: string, atLeast: number): void {
  options.aim({
    job: 'J1',
    text: `${theirs}: times ${subject}`,
    figure: 'requestsPerSecond',
    ours: {
      subject: us,
      what: mine,
    },
    theirs: {
      subject,
      what: theirs,
    },
    wanted: { atLeast },
  })
}

function* jsonOf(rows: Rows): Generator<string> {
  for (const { event } of rows) yield event.json
}

/** A page of a peer contains the hundred events that it must, in whatever frame. */
async function checkItems(url: string, first: number, headers: Record<string, string> = {}): Promise<void> {
  const text = (await getOk(url, headers)).toString()
  const numbers = [...text.matchAll(/\{"tenantId":"[^"]+","sequenceNumber":(\d+),/g)].map(([, number]) =>
    Number(number),
  )
  const right = numbers.every((number, index) => number === first + index)
  if (numbers.length !== 100 || !right) throw new Error(`${url} is not the page it must be`)
}
