/**
 * How long the answer takes to why a property is not on a site, in a feed of a million events that 30 consumers read here and there: by the
 * route, and by `property-events why` with its process, whose requests are counted. The service (and its database) share a machine with those.
 * Prints a table, writes `bench/results/why-<engine>-<events>.json`, and ends with 1 where the command takes more than two requests.
 *
 *     node bench/why.ts sqlite|postgres [EVENTS] [FOLDER]
 *
 * EVENTS are a million by default, and FOLDER is that of the results.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { issueKey, loadPeppers, openStorage } from '../packages/server/src/index.ts'
import type { Scope } from '../packages/protocol/src/index.ts'
import { median, rounded } from './support/figures.ts'
import { startPostgres } from './support/postgres.ts'
import { startService } from './support/service.ts'
import { benchFeed, emptyStore, filledStore, fillStorage, tenantIdOf } from './support/store.ts'
import type { StorePlace } from './support/store.ts'

const run = promisify(execFile)
const program = join(import.meta.dirname, '../packages/cli/bin/property-events.mjs')
const averageBytes = 500
const consumers = 30
const pagesEach = 40
const pageSize = 100
const properties = 20
/** The most requests that `why` may send. */
const mostRequests = 2

export interface WhyTimes {
  readonly medianMs: number
  readonly mostMs: number
}

async function measure(kind: 'sqlite' | 'postgres', events: number, results: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-why-'))
  await using database = kind === 'postgres' ? await startPostgres() : undefined
  const place: StorePlace =
    database === undefined ? { kind: 'sqlite', folder } : { kind: 'postgres', url: database.url }
  if (place.kind === 'sqlite') {
    cpSync((await filledStore(events, averageBytes)).folder, folder, { recursive: true })
  } else {
    await using storage = await emptyStore(place, 1)
    await fillStorage(storage, events, averageBytes)
  }
  const [publishKey = ''] = await makeKeys(folder, place, ['publisher'], 'property:publish')
  const sites = Array.from({ length: consumers }, (_, index) => `site ${index + 1}`)
  const readKeys = await makeKeys(folder, place, sites, 'property:read')
  await using service = await startService(folder, {
    args: place.kind === 'sqlite' ? [] : ['--database', place.url],
  })
  const references = await readHereAndThere(service.url, readKeys, events)
  const answers = await timed(references, (reference) => ask(service.url, publishKey, reference))
  await using counting = await countRequests(service.url)
  const commands = await timed(references, async (reference) => {
    const key = ['--url', counting.url, '--key', publishKey]
    const { stdout } = await run(process.execPath, [program, 'why', reference, ...key])
    if (!stdout.includes(`site ${consumers}`)) throw new Error(`not told of every consumer: ${stdout}`)
  })
  const requestsEach = counting.requests() / references.length
  const result: WhyResult = {
    measuredAt: new Date().toISOString(),
    engine: kind,
    machine: { cores: cpus().length, processor: cpus()[0]?.model ?? '', node: process.version },
    events,
    consumers,
    route: answers,
    command: { ...commands, requestsEach },
  }
  writeFileSync(join(results, `why-${kind}-${events}.json`), `${JSON.stringify(result, undefined, 1)}\n`)
  console.log(tableOf(result))
  rmSync(folder, { recursive: true, force: true })
  if (requestsEach <= mostRequests) return
  console.error(`why took ${requestsEach} requests, and not ${mostRequests} at most`)
  process.exitCode = 1
}

/** As in the file. */
export interface WhyResult {
  readonly measuredAt: string
  readonly engine: 'sqlite' | 'postgres'
  readonly machine: { readonly cores: number; readonly processor: string | undefined; readonly node: string }
  readonly events: number
  readonly consumers: number
  readonly route: WhyTimes
  readonly command: WhyTimes & { readonly requestsEach: number }
}

function tableOf({ engine, events, consumers: sites, route, command }: WhyResult): string {
  const line = (what: string, { medianMs, mostMs }: WhyTimes, requests: number): string =>
    `| ${what} | ${requests} | ${medianMs} ms | ${mostMs} ms |`
  return [
    `${engine}, ${events.toLocaleString('en-GB')} events, ${sites} consumers, ${properties} properties`,
    '',
    '| | requests each | median | slowest |',
    '|---|---|---|---|',
    line('GET /v1/properties/{ref}/consumers', route, 1),
    line('property-events why REF', command, command.requestsEach),
  ].join('\n')
}

/** One for each label. Their pepper is in the folder. */
async function makeKeys(
  folder: string,
  place: StorePlace,
  labels: readonly string[],
  scope: Scope,
): Promise<readonly string[]> {
  await using storage = await openStorage({ ...place, create: false })
  const [pepper] = loadPeppers({ folder, given: undefined })
  const keys: string[] = []
  for (const label of labels) {
    const grants = [{ tenantId: tenantIdOf(0), scopes: [scope] }]
    const asked = { label, operator: false, grants, expiresMs: undefined, nowMs: Date.now() }
    const issued = await issueKey(storage.keys, pepper, { ...asked, actor: 'cli:bench' })
    if (issued.kind !== 'issued') throw new Error(`no key for ${label}`)
    keys.push(issued.text)
  }
  return keys
}

/** Reads pages all over the feed, different ones for each consumer. Resolves to references of properties in them. */
async function readHereAndThere(
  url: string,
  keys: readonly string[],
  events: number,
): Promise<readonly string[]> {
  const found = new Set<string>()
  for (const [consumer, key] of keys.entries()) {
    for (let read = 1; read <= pagesEach; read += 1) {
      const page = ((consumer * 317 + read * 97) % (events / pageSize)) + 1
      const path = `/v1/${benchFeed.feed}-events?after=${(page - 1) * pageSize}&limit=${pageSize}`
      const text = await getText(`${url}${path}`, key)
      const [, reference] = /agent_ref\\?":\\?"([^"\\]+)/.exec(text) ?? []
      if (reference !== undefined && found.size < properties) found.add(reference)
    }
  }
  return [...found]
}

async function ask(url: string, key: string, reference: string): Promise<void> {
  const text = await getText(`${url}/v1/properties/${reference}/consumers`, key)
  if (text.split('"consumer"').length - 1 < consumers && text.split('"name"').length - 1 < consumers)
    throw new Error(`not told of every consumer: ${text.slice(0, 500)}`)
}

async function getText(url: string, key: string): Promise<string> {
  const answer = await fetch(url, { headers: { 'x-api-key': key } })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${url} → ${answer.status}: ${text.slice(0, 500)}`)
  return text
}

async function timed(
  references: readonly string[],
  act: (reference: string) => Promise<void>,
): Promise<WhyTimes> {
  const times: number[] = []
  for (const reference of references) {
    const startedMs = performance.now()
    await act(reference)
    times.push(performance.now() - startedMs)
  }
  return { medianMs: rounded(median(times)), mostMs: rounded(Math.max(...times)) }
}

interface Counting {
  readonly url: string
  requests(): number
  [Symbol.asyncDispose](): Promise<void>
}

/** Passes requests on and counts them. */
async function countRequests(to: string): Promise<Counting> {
  let requests = 0
  const passOn = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests += 1
    const headers = { 'x-api-key': String(request.headers['x-api-key']) }
    const answer = await fetch(`${to}${request.url ?? ''}`, { headers })
    const type = answer.headers.get('content-type') ?? ''
    response.writeHead(answer.status, { 'content-type': type }).end(await answer.text())
  }
  const server = createServer((request, response) => {
    passOn(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

if (import.meta.main) {
  const [kind, events = '1000000', results = join(import.meta.dirname, 'results')] = process.argv.slice(2)
  if ((kind === 'sqlite' || kind === 'postgres') && /^[1-9]\d{3,8}$/.test(events)) {
    mkdirSync(results, { recursive: true })
    await measure(kind, Number(events), results)
  } else {
    console.error('usage: node bench/why.ts sqlite|postgres [EVENTS, 1000 at least] [FOLDER]')
    process.exitCode = 1
  }
}
