/**
 * Compares this build with another one of this project: `node bench/compare.ts --before ../checkout-of-the-other-build`.
 * The other checkout has its own `node_modules`. Both serve at the same time, on the server's core; one at a time is asked.
 * `--cases heads,404` compares the cases with one of these in their names, an empty list all.
 * `--launches 5` starts both anew after each fifth of the pairs: two processes of one build differ by up to 10 %, for as long as they live.
 * `--slices 6` lets both take turns six times within each pair: what else the machine does for some seconds then slows both.
 * Each makes its stores itself, because an older build refuses a newer schema. Raw results go to `bench/results/compared`.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import type { BenchOptions } from './jobs/context.ts'
import type { Case } from './support/measure.ts'
import { measurePairs, pairedResult } from './support/pairs.ts'
import type { PairedCase, PairedResult, PairedRuns } from './support/pairs.ts'
import { startPostgres } from './support/postgres.ts'
import { checkFeed, checkPublishing, publicationBodies, publishPath } from './support/publications.ts'
import { byIdPath, listPath } from './support/reading-set.ts'
import { get, getCase, getOk, postCase } from './support/requests.ts'
import { startService } from './support/service.ts'
import type { RunningService } from './support/service.ts'
import type * as StoreSupport from './support/store.ts'
import type { StorePlace } from './support/store.ts'

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    pairs: { type: 'string', default: '15' },
    slices: { type: 'string', default: '1' },
    launches: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '2' },
    engines: { type: 'string', default: 'sqlite,postgres' },
    cases: { type: 'string', default: '' },
    results: { type: 'string', default: join(import.meta.dirname, 'results/compared') },
  },
})
if (values.before === undefined) throw new Error('--before names a checkout of the build to compare with')
const checkouts = { before: resolve(values.before), now: join(import.meta.dirname, '..') }
type Side = keyof typeof checkouts

const feeds = 50
const spreadFeeds = 1_000
const eventBytes = 3_600
const readEvents = 10_000

interface Site {
  readonly service: RunningService
  readonly keys: readonly string[]
}

/** A store that the build itself made, with a feed full enough to be read, served by that build. */
async function site(side: Side, place: StorePlace, folder: string): Promise<Site> {
  const checkout = checkouts[side]
  const made: typeof StoreSupport = await import(join(checkout, 'bench/support/store.ts'))
  mkdirSync(folder, { recursive: true })
  {
    await using storage = await made.emptyStore(place, spreadFeeds)
    await made.fillStorage(storage, readEvents, eventBytes)
  }
  const tenants = Array.from({ length: spreadFeeds }, (_, index) => made.tenantIdOf(index))
  const keys = await made.keysOf(place, folder, tenants)
  const args = place.kind === 'postgres' ? ['--database', place.url] : []
  const service = await startService(folder, { checkout, args })
  const [body = ''] = publicationBodies(eventBytes, 100)
  // Outside the feed that is read, whose pages stay full and sealed.
  await checkPublishing(service, keys[1] ?? '', body)
  return { service, keys }
}

async function casesOf(options: BenchOptions, { service, keys }: Site): Promise<ReadonlyMap<string, Case>> {
  const [readKey = '', ...publishKeys] = keys
  const headers = { 'x-api-key': readKey }
  const pages = Array.from(
    { length: readEvents / 100 },
    (_, index) => `${listPath}?page=${index + 1}&pageSize=100`,
  )
  const nowMs = Date.now()
  const polls = pages.map((_, index) => `${listPath}?from=${new Date(nowMs + index).toISOString()}`)
  const ids: string[] = []
  const subjects: string[] = []
  for (const page of pages) {
    const { items }: { items: { id: string; payload: string }[] } = JSON.parse(
      (await getOk(service.url + page, headers)).toString(),
    )
    for (const { id, payload } of items) {
      const { agent_ref: subject }: { agent_ref: string } = JSON.parse(payload)
      ids.push(`${byIdPath}/${id}`)
      subjects.push(`/v1/properties/${subject}`)
    }
  }
  const last = pages.at(-1) ?? ''
  const tag = String((await get(service.url + last, headers)).headers['etag'])
  const reads = { subject: '', server: service, key: readKey }
  const post = (what: string, events: number, connections: number, of: readonly string[]): [string, Case] => {
    const bodies = publicationBodies(eventBytes, events)
    const entry = {
      subject: '',
      what,
      server: service,
      path: publishPath,
      keys: of,
      bodies,
      connections,
      events,
    }
    return [what, postCase(options, entry)]
  }
  const read = (what: string, more: Partial<Parameters<typeof getCase>[1]>): [string, Case] => [
    what,
    getCase(options, { ...reads, what, targets: pages, ...more }),
  ]
  return new Map([
    read('polls of an unchanged head', { targets: [last], tag, connections: 50 }),
    read('polls by time that find nothing', { targets: polls, connections: 50 }),
    read('pages of 100', {}),
    read('pages of 100, gzip', { gzip: true }),
    read('one event by id', { targets: ids }),
    read('empty pages', { targets: [`${listPath}?page=${pages.length + 1}`], connections: 50 }),
    read('heads', { targets: ['/v1/heads'] }),
    read('runs of 1', { targets: ids.map((_, index) => `${publishPath}?limit=1&after=${index}`) }),
    read('one subject', { targets: subjects }),
    read('history of a subject', { targets: subjects.map((subject) => `${subject}/history`) }),
    read('refused, 400', { targets: [`${listPath}?page=0`], refused: true }),
    read('refused, 401', { targets: pages, key: `${readKey.slice(0, -1)}~`, refused: true }),
    read('refused, 404', { targets: ['/v1/nothing'], refused: true }),
    read("over Node's HTTP, 304", { targets: [absolute(last)], tag, connections: 50 }),
    read("over Node's HTTP, one event", { targets: ids.map(absolute) }),
    read("over Node's HTTP, where feeds stand", { targets: [absolute('/v1/heads')] }),
    post('1 event, 1 publisher', 1, 1, publishKeys.slice(0, 1)),
    post('1 event, 50 publishers, 1 feed', 1, 50, publishKeys.slice(0, 1)),
    post('1 event, 50 publishers, 50 feeds', 1, 50, publishKeys.slice(0, feeds)),
    post('1 event, 50 publishers, 999 feeds', 1, 50, publishKeys),
    post('100 events, 1 publisher', 100, 1, publishKeys.slice(0, 1)),
  ])
}

/** Not a plain request, so its connection goes to Node's HTTP. */
function absolute(path: string): string {
  return `http://127.0.0.1${path}`
}

/** Pairs measured in one launch of both builds. */
async function comparePairs(
  engine: string,
  pairs: number,
  options: BenchOptions,
): Promise<readonly PairedRuns[]> {
  const folder = mkdtempSync(join(options.folder, `${engine}-`))
  await using postgres = engine === 'postgres' ? await startPostgres() : undefined
  const placeOf = async (side: Side): Promise<StorePlace> => {
    if (postgres === undefined) return { kind: 'sqlite', folder: join(folder, side) }
    const client = new Client({ connectionString: postgres.url })
    await client.connect()
    await client.query(`CREATE DATABASE ${side}_build`)
    await client.end()
    return { kind: 'postgres', url: postgres.url.replace(/\/postgres$/, `/${side}_build`) }
  }
  const withDatabase = (one: Site): Site =>
    postgres === undefined
      ? one
      : { ...one, service: { ...one.service, cpuS: () => one.service.cpuS() + postgres.cpuS() } }
  const before = withDatabase(await site('before', await placeOf('before'), join(folder, 'before')))
  const now = withDatabase(await site('now', await placeOf('now'), join(folder, 'now')))
  try {
    const [of, mine] = [await casesOf(options, before), await casesOf(options, now)]
    const wanted = values.cases.split(',')
    const paired: PairedCase[] = []
    for (const [what, entry] of of) {
      const other = mine.get(what)
      if (other !== undefined && wanted.some((part) => what.includes(part)))
        paired.push({ what, before: entry, now: other })
    }
    const runs = await measurePairs(paired, {
      pairs,
      slices: Number(values.slices),
      seconds: Number(values.seconds),
    })
    for (const { service, keys } of [before, now]) await checkFeed(service, keys[1] ?? '')
    return runs
  } finally {
    await before.service[Symbol.asyncDispose]()
    await now.service[Symbol.asyncDispose]()
  }
}

async function compare(engine: string, options: BenchOptions): Promise<readonly PairedResult[]> {
  const launches = Number(values.launches)
  const byCase = new Map<string, PairedRuns[]>()
  for (let launch = 0; launch < launches; launch += 1) {
    for (const runs of await comparePairs(engine, Math.ceil(Number(values.pairs) / launches), options)) {
      byCase.set(runs.what, [...(byCase.get(runs.what) ?? []), runs])
    }
  }
  return [...byCase.values()].map((runs) => {
    const result = pairedResult(runs)
    const verdict = result.atLeast >= 0.95 ? '' : '  below 0.95'
    process.stdout.write(
      `${engine.padEnd(9)} ${result.what.padEnd(36)} ${result.ratio.toFixed(3)}, at least ${result.atLeast.toFixed(3)}, processor time ${result.processorTime.toFixed(3)}${verdict}\n`,
    )
    return result
  })
}

const folder = mkdtempSync(join(tmpdir(), 'property-events-compare-'))
try {
  const numbers = { events: readEvents, averageBytes: eventBytes, runs: 1, seconds: Number(values.seconds) }
  const ignore = (): void => undefined
  const options = {
    ...numbers,
    connections: 16,
    minutes: 0,
    folder,
    report: ignore,
    aim: ignore,
    skip: ignore,
  }
  for (const engine of values.engines.split(',')) {
    const results = await compare(engine, options)
    const commitOf = (cwd: string): string =>
      execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd, encoding: 'utf8' }).trim()
    const commits = { before: commitOf(checkouts.before), now: commitOf(checkouts.now) }
    const name = `${engine}-${commits.before}-${commits.now}${values.cases === '' ? '' : `-${values.cases.replaceAll(/\W+/g, '-')}`}.json`
    const settings = {
      pairs: Number(values.pairs),
      slices: Number(values.slices),
      launches: Number(values.launches),
      seconds: Number(values.seconds),
      takenAt: new Date().toISOString(),
    }
    mkdirSync(values.results, { recursive: true })
    writeFileSync(
      join(values.results, name),
      `${JSON.stringify({ ...commits, ...settings, results }, undefined, 1)}\n`,
    )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
