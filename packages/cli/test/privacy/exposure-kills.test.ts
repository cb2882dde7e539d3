/** What `exposure` says, held against everything that consumers of two nodes received while nodes were killed (D28). */
import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { constants, gunzipSync } from 'node:zlib'
import { disclosedContacts, openStorage, unknownTimes } from '@property-events/server'
import type { TimeSpan } from '@property-events/server'
import { testDatabases } from '../../../server/test/postgres/test-databases.ts'
import type { TestDatabases } from '../../../server/test/postgres/test-databases.ts'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { until } from '../../../server/test/support/until.ts'
import { makeTenant, placeOf } from '../support/make-tenant.ts'
import { removeFolder, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

const kills = Number(process.env['PROPERTY_EVENTS_TEST_EXPOSURE_KILLS'] ?? (isLongRun ? 24 : 3))
const readsPerRound = 40
const list = '/api/func/api/v1/contactevents/getevents'

interface Received {
  readonly status: number | undefined
  /** As far as it came. */
  readonly text: string
  readonly etag: string | undefined
  readonly isWhole: boolean
}

/** Of an answer that breaks off, what had come. */
function read(
  url: string,
  path: string,
  key: string,
  headers: Readonly<Record<string, string>>,
): Promise<Received> {
  return new Promise((resolve) => {
    const nothing = { status: undefined, text: '', etag: undefined, isWhole: false }
    const outgoing = request(
      `${url}${path}`,
      { agent: false, headers: { 'x-api-key': key, ...headers } },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', () => undefined)
        incoming.on('close', () => {
          const body = Buffer.concat(chunks)
          const { 'content-encoding': coding, etag } = incoming.headers
          const text = coding === 'gzip' ? gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }) : body
          resolve({ status: incoming.statusCode, text: text.toString(), etag, isWhole: incoming.complete })
        })
      },
    )
    outgoing.on('error', () => resolve(nothing))
    outgoing.end()
  })
}

function refsIn(text: string): readonly string[] {
  return [...text.matchAll(/contact_ref\\":\\"([0-9a-f-]{36})\\"/g)].map(([, ref]) => ref ?? '')
}

/** What one key received: each contact with the times between which its bytes were asked for and came. */
interface Seen {
  readonly ref: string
  readonly span: TimeSpan
}

/** A consumer that notes all it receives, and what it asked for without an answer that came whole. */
function consumer(key: string) {
  const seen: Seen[] = []
  const broken = new Set<string>()
  let etag = ''
  return {
    key,
    seen,
    broken,
    async read(url: string, path: string): Promise<void> {
      const headers = {
        'accept-encoding': randomInt(2) === 0 ? 'gzip' : 'identity',
        // Usually of another page; where it is of this one, the answer has no body.
        ...(randomInt(4) === 0 && etag !== '' ? { 'if-none-match': etag } : {}),
      }
      const fromMs = Date.now()
      const received = await read(url, path, key, headers)
      etag = received.etag ?? etag
      if (!received.isWhole) broken.add(path)
      const span = { fromMs, toMs: Date.now() }
      for (const ref of new Set(refsIn(received.text))) seen.push({ ref, span })
    },
  }
}

/** Of 80 contacts, published once and in order, the part that a consumer reads. */
interface Share {
  /** Pages of ten, from 1. */
  readonly pages: readonly [first: number, last: number]
  readonly snapshots: boolean
}

/** The contacts of page 5 are read by nobody. */
const shares: readonly Share[] = [
  { pages: [1, 4], snapshots: false },
  { pages: [6, 8], snapshots: true },
]

function randomPath(
  { pages: [first, last], snapshots }: Share,
  refs: readonly string[],
  ids: readonly string[],
): string {
  const at = randomInt((first - 1) * 10, last * 10)
  const page = randomInt(first, last + 1)
  const paths = [
    `${list}?page=${page}&pageSize=10`,
    `${list}?page=${page}&pageSize=10&from=2020-01-01&to=2030-01-01`,
    `${list}?page=${page * 2}&pageSize=5`,
    `/api/func/api/v1/contactevents/geteventbyid/${ids[at]}`,
    `/v1/contacts/${refs[at]}`,
    `/v1/contacts/${refs[at]}/history`,
    `/v1/contact-events?after=${at}&limit=${randomInt(1, last * 10 - at + 1)}`,
    '/v1/contact-events/reduced',
    ...(snapshots ? ['/v1/contact-events/snapshot?after=60'] : []),
  ]
  return paths[randomInt(paths.length)] ?? list
}

describe('exposure, while nodes are killed', () => {
  const root = temporaryFolder()
  let databases: TestDatabases
  const nodes: Running[] = []
  before(async () => {
    databases = await testDatabases()
  })
  after(async () => {
    for (const { child } of nodes) child.kill('SIGKILL')
    await databases[Symbol.asyncDispose]()
    removeFolder(root)
  })

  async function startNode(index: number, environment: Readonly<Record<string, string>>): Promise<void> {
    const args = ['--data', join(root, String(index)), '--metrics-port', '0', '--rate-limit', 'off']
    nodes[index] = await start(['serve', ...args], { environment })
  }
  const urlOf = (index: number): string => nodes[index]?.line.url ?? ''

  async function post(url: string, path: string, key: string, body: unknown): Promise<Record<string, never>> {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    assert.ok(answer.status === 201 || answer.status === 202, text)
    return JSON.parse(text)
  }

  it(`names all that was received, for sure or possibly, and for sure nothing that was not sent, over ${kills} kills (D28)`, async () => {
    const environment = {
      PROPERTY_EVENTS_DATABASE: await databases.create(),
      PROPERTY_EVENTS_KEY_PEPPER: 'the same on every node',
    }
    await Promise.all([startNode(0, environment), startNode(1, environment)])
    const { keys } = await makeTenant(placeOf(environment), 'Hill & Co', {
      one: ['contact:read'],
      two: ['contact:read'],
      again: ['contact:read'],
      publishing: ['contact:publish'],
      erasing: ['contact:erase'],
    })
    const { one, two, again, publishing, erasing } = keys
    const refs = Array.from({ length: 80 }, () => randomUUID())
    const events = refs.map((contact_ref) => ({ id: randomUUID(), payload: { contact_ref } }))
    await post(urlOf(0), '/v1/contact-events', publishing.key, events)
    const ids = events.map(({ id }) => id)

    const consumers = [consumer(one.key), consumer(two.key)]
    let reads = 0
    const over = new AbortController()
    const readers = consumers.flatMap((each, index) =>
      [0, 1].map(async () => {
        while (!over.signal.aborted) {
          const share = shares[index] ?? assert.fail('a share for each')
          await each.read(urlOf(randomInt(2)), randomPath(share, refs, ids))
          reads += 1
        }
      }),
    )
    const erased = refs.slice(0, kills)
    for (let kill = 0; kill < kills; kill += 1) {
      const enough = reads + readsPerRound
      await until(() => reads > enough, { timeoutMs: 120_000, what: 'reads' })
      // Makes the nodes add what they have sent. Some is added then, and some is lost with the kill.
      const subjectId = erased[kill]
      if (kill % 2 === 0) {
        await post(urlOf(0), '/v1/erasures', erasing.key, { feed: 'contact', subjectId, reason: 'objection' })
      }
      const more = reads + randomInt(readsPerRound)
      await until(() => reads > more, { timeoutMs: 120_000, what: 'more reads' })
      const victim = randomInt(2)
      const isStopped = kill % 4 === 3
      const { code } = (await nodes[victim]?.stop(isStopped ? 'SIGTERM' : 'SIGKILL')) ?? {}
      assert.equal(code, isStopped ? 0 : null)
      await startNode(victim, environment)
    }
    over.abort()
    await Promise.all(readers)
    // What a broken answer would have held: it may have been on its way.
    const others = consumer(again.key)
    const mayHaveBeenSent = new Set<string>()
    for (const path of new Set(consumers.flatMap(({ broken }) => [...broken]))) {
      for (const ref of refsIn((await read(urlOf(0), path, others.key, {})).text)) mayHaveBeenSent.add(ref)
    }
    for (const node of nodes) assert.equal((await node.stop()).code, 0)

    await using storage = await openStorage({
      kind: 'postgres',
      url: environment.PROPERTY_EVENTS_DATABASE,
      readConnections: 1,
      create: false,
    })
    const lived = { fromMs: 0, toMs: Date.now() + 3_600_000, nowMs: Date.now() }
    const unknown = await unknownTimes(storage, { ...lived, keyId: one.keyId })
    assert.equal(unknown.length > 0, true)
    for (const [index, { keyId }] of [one, two].entries()) {
      const { seen = [] } = consumers[index] ?? {}
      const [notice] = await Array.fromAsync(disclosedContacts(storage, { ...lived, keyId }))
      const sure = new Set(notice?.contacts.map(({ contactRef }) => contactRef))
      assert.ok(seen.length > readsPerRound && sure.size > 0)
      for (const { ref, span } of seen) {
        const isPossible = unknown.some(({ fromMs, toMs }) => span.fromMs <= toMs && span.toMs >= fromMs)
        assert.ok(sure.has(ref) || isPossible, `${ref} was received at ${new Date(span.toMs).toISOString()}`)
      }
      const received = new Set(seen.map(({ ref }) => ref))
      for (const ref of sure) {
        assert.ok(received.has(ref) || mayHaveBeenSent.has(ref), `${ref} was never sent`)
      }
    }
    const publisher = { ...lived, keyId: publishing.keyId }
    assert.deepEqual(await Array.fromAsync(disclosedContacts(storage, publisher)), [])
  })
})
