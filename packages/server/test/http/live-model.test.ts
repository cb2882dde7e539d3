/**
 * The readers of a feed that changes, cut at random bytes, slow, coming back with old ids, over an epoch and an erasure, and behind nginx:
 * the log of each is the feed in the end (PROTOCOL §13).
 */
import assert from 'node:assert/strict'
import { rmSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../support/free-ports.ts'
import { call, publish } from '../support/http-client.ts'
import { byBareSocket, byCurl, byNodeHttp } from '../support/live-sessions.ts'
import { pollReader, streamReader } from '../support/live-readers.ts'
import type { LogReader, ReaderOptions } from '../support/live-readers.ts'
import { nginx, startNginx } from '../support/nginx.ts'
import { isLongRun, onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import type { TestProperty } from '../support/property.ts'
import { randomOf } from '../support/random-requests.ts'
import type { Random } from '../support/random-requests.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const seed = Number(process.env['PROPERTY_EVENTS_TEST_SEED'] ?? Date.now() % 2 ** 31)
const rounds = isLongRun ? 600 : 30
const path = '/v1/property-events'

/** So short that streams end and begin again by themselves, and what a proxy has gathered is let go of. */
const limits = { streamMs: 1_500, markEveryMs: 300, waitingPerKey: 100 }

/** Publishes, updates, removes and moves homes between the categories. */
async function changeHomes(service: TestService, random: Random, homes: TestProperty[]): Promise<void> {
  const [known] = homes.splice(random(homes.length), random(3) === 0 ? 0 : 1)
  const home = known ?? property()
  const category = random(3) === 0 ? 'lettings' : 'sales'
  const details = { summary: 'S', description: 'x'.repeat(random(3) === 0 ? 30_000 : 200) }
  const price = 1 + random(1_000_000)
  const event =
    known !== undefined && random(5) === 0
      ? { remove: { agentRef: home.agent_ref } }
      : { payload: { ...home, details, price_information: { price } }, category }
  if (!('remove' in event)) homes.push(home)
  await publish(service, event)
}

/** The numbers that a reader has to have, as runs without a wait tell them. */
async function expected(
  { port, tenant }: Pick<TestService, 'port' | 'tenant'>,
  view: string,
): Promise<readonly number[]> {
  const numbers: number[] = []
  for (let after = 0; ;) {
    const answer = await call({ port }, `${path}?after=${after}${view}`, { key: tenant.readKey })
    const run: {
      readonly items: readonly { readonly sequenceNumber: number }[]
      readonly next: number
      readonly head: number
    } = JSON.parse(answer.text)
    numbers.push(...run.items.map(({ sequenceNumber }) => sequenceNumber))
    after = run.next
    if (after >= run.head) return numbers
  }
}

/** A cut connection has room for a few of the longest events, so that its reader gets on. */
const usualCut = 100_000

/** Each connection lasts until its stream ends, cut or not: with the usual cut, the 16 MB of a long run would take ten minutes. */
const cutOfGathered = isLongRun ? 1_000_000 : usualCut

function readersOf(port: number, key: string, random: Random, cutBelow = usualCut): readonly LogReader[] {
  const reader = (name: string, view = ''): ReaderOptions => ({
    name,
    port: () => port,
    key,
    path,
    view,
    random,
  })
  const sales = '&apiEventType=salesproperty'
  return [
    streamReader(reader('quick'), byNodeHttp),
    streamReader(reader('cut'), byNodeHttp, { cutBelow }),
    streamReader(reader('cut bare socket'), byBareSocket, { cutBelow }),
    streamReader(reader('slow'), byBareSocket, { restMs: 20 }),
    streamReader(reader('curl'), byCurl, { cutBelow }),
    streamReader(reader('with old ids', '&apiEventType=lettingsproperty'), byNodeHttp, {
      cutBelow,
      oldIdEvery: 2,
    }),
    streamReader(reader('of sales that are published', `${sales}&types=PropertyPublished`), byNodeHttp, {
      cutBelow,
    }),
    pollReader(reader('by polls')),
    pollReader(reader('by polls of sales', sales)),
  ]
}

async function disturb(service: TestService, random: Random): Promise<void> {
  const homes: TestProperty[] = []
  for (let round = 0; round < rounds; round += 1) {
    await changeHomes(service, random, homes)
    if (random(4) === 0) await delay(random(40))
    const [gone] = round % 20 === 9 ? homes.splice(random(homes.length), 1) : []
    if (gone !== undefined) await erase(service, gone.agent_ref)
    if (round === Math.floor(rounds / 2))
      await service.storage.startEpoch(0, 'cli:test', [
        { tenantId: service.tenant.tenantId, feed: 'property' },
      ])
  }
}

async function erase(service: TestService, subjectId: string): Promise<void> {
  const body = JSON.stringify({ feed: 'property', subjectId, reason: 'published_in_error' })
  const headers = { 'content-type': 'application/json' }
  const answer = await call(service, '/v1/erasures', {
    method: 'POST',
    key: service.tenant.eraseKey,
    headers,
    body,
  })
  assert.equal(answer.status, 202, answer.text)
}

/** Resolves once all logs are what they have to be; says of which reader not, and where it is. */
async function agree(service: TestService, readers: readonly LogReader[]): Promise<void> {
  for (const reader of readers) {
    const { name, view } = reader
    const differs = async (): Promise<string | undefined> => {
      const numbers = await expected(service, view)
      const at = numbers.findIndex((number, index) => number !== reader.log[index])
      if (at === -1 && reader.log.length === numbers.length) return undefined
      return `${reader.log.length} of ${numbers.length} events, ${reader.log[at]} in place of ${numbers[at]}`
    }
    await until(async () => (await differs()) === undefined, {
      everyMs: 100,
      timeoutMs: isLongRun ? 180_000 : 30_000,
    }).catch(async () => {
      assert.fail(`${name} (seed ${seed}): ${await differs()}, after ${reader.connections} connections`)
    })
    assert.deepEqual(reader.faults, [], `${name} (seed ${seed})`)
  }
}

onEngines(`readers of a feed that changes (seed ${seed})`, { limits }, (service) => {
  it('each have the whole feed in the end, in order (L1, L2, PROTOCOL §13)', async () => {
    const random = randomOf(seed)
    const readers = readersOf(service().port, service().tenant.readKey, random)
    try {
      await disturb(service(), random)
      await agree(service(), readers)
      assert.ok(readers.every(({ connections }) => connections > 1))
    } finally {
      await Promise.all(readers.map((reader) => reader.stop()))
    }
  })
})

const needsNginx =
  nginx === undefined ? 'nginx is not installed (Debian: apt-get install nginx-light)' : false

/** What a proxy does that was not told better: it gathers answers, whatever they say. */
const gathering: readonly (readonly [RegExp, string])[] = [
  [
    /proxy_http_version 1\.1;/,
    'proxy_http_version 1.1; proxy_ignore_headers X-Accel-Buffering; proxy_buffering on;',
  ],
]

// What a proxy does is the same for every engine.
describe(`readers behind nginx (seed ${seed})`, () => {
  let service: TestService
  before(async () => {
    service = await startTestService({ limits })
  })
  after(() => service.stop())

  for (const [what, replacements, cutBelow] of [
    ['that is set up as ours', [], usualCut],
    ['that gathers what it passes on', gathering, cutOfGathered],
  ] as const) {
    it(`${what} each have the whole feed in the end (L1, PROTOCOL §13)`, { skip: needsNginx }, async () => {
      const random = randomOf(seed)
      const folder = mkdtempSync(join(tmpdir(), 'property-events-live-'))
      const [port = 0] = await freePorts(1)
      const proxy = await startNginx(folder, port, [service.port, service.port], replacements)
      const readers = readersOf(port, service.tenant.readKey, random, cutBelow)
      try {
        await disturb(service, random)
        await agree(service, readers)
      } finally {
        await Promise.all(readers.map((reader) => reader.stop()))
        proxy.kill()
        rmSync(folder, { recursive: true, force: true })
      }
    })
  }
})
