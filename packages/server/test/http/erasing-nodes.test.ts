/** Two nodes of one database: an erasure is unreachable on both, or is not said to be (D17). */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createLogger, createService, issueKey, loadPeppers, openStorage } from '../../src/index.ts'
import type { Service, StorageEngine } from '../../src/index.ts'
import { catalogues, scopes } from '@property-events/protocol'
import { sharedDatabases } from '../postgres/test-databases.ts'
import {
  addressesOf,
  canary,
  eraseAll,
  postErasure,
  publishCanary,
  readAll,
  receiptOf,
  showing,
  tagsOf,
} from '../support/canary.ts'
import type { ReceiptBody } from '../support/canary.ts'
import type { TestTenant } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const [pepper] = loadPeppers({ folder: undefined, given: undefined })
const unhurried = { perSecond: 100_000, burst: 1_000_000 }

interface Node {
  readonly storage: StorageEngine
  readonly service: Service
  readonly port: number
}

describe('erasing from a database with two nodes', () => {
  let url = ''
  let folder = ''
  const running = new Set<Node>()
  before(async () => {
    url = await (await sharedDatabases()).create()
    folder = await mkdtemp(join(tmpdir(), 'property-events-nodes-'))
  })
  after(async () => {
    for (const node of running) await stopNode(node)
    await rm(folder, { recursive: true, force: true })
  })

  async function startNode(name: string): Promise<Node> {
    const storage = await openStorage({
      kind: 'postgres',
      url,
      readConnections: 4,
      create: true,
      catalogue: catalogues.default,
    })
    const service = await createService({
      storage,
      peppers: [pepper],
      log: createLogger({ level: 'silent' }),
      host: '127.0.0.1',
      port: 0,
      metrics: undefined,
      limits: { requests: unhurried, failures: unhurried },
      pages: { memoryBytes: 2 ** 24, folder: join(folder, name), fileBytes: 2 ** 26 },
    })
    const node = { storage, service, port: Number(new URL(service.url).port) }
    running.add(node)
    return node
  }
  async function stopNode(node: Node): Promise<void> {
    running.delete(node)
    await node.service.close()
    await node.storage.close()
  }

  async function holdsCanary(name: string): Promise<boolean> {
    const file = await readFile(join(folder, name, 'sealed-pages')).catch(() => Buffer.alloc(0))
    return file.includes(canary)
  }

  it('waits for both, and for one that hangs; a node that was away forgets when it comes back (D17)', async () => {
    const names = ['one', 'two', 'away']
    for (const name of names) await mkdir(join(folder, name))
    const [one, two, away] = [await startNode('one'), await startNode('two'), await startNode('away')]
    const tenant = await createTenant(one.storage)
    const [first, second] = [
      { port: one.port, tenant },
      { port: two.port, tenant },
    ]
    const erased = await publishCanary(first)
    const addresses = addressesOf(erased)
    for (const { port } of [one, two, away]) {
      await until(async () => {
        await readAll({ port, tenant }, addresses)
        return holdsCanary(names[[one.port, two.port].indexOf(port)] ?? 'away')
      })
    }
    await stopNode(away)
    const tags = tagsOf(await readAll(second, addresses))
    assert.ok(showing(await readAll(second, addresses)).length > 0)

    const hanging = crypto.randomUUID()
    await one.storage.nodes.announce({
      nodeId: hanging,
      place: 'a node that hangs',
      pepperIds: [],
      ignoresProxy: false,
    })
    const [contactToo, property] = [erased[1], erased[0]]
    assert.ok(contactToo !== undefined && property !== undefined)
    const begun = await postErasure(first, {
      feed: property.feed,
      subjectId: property.subjectId,
      reason: 'objection',
    })
    const { id } = JSON.parse(begun.text) as ReceiptBody
    const isAcknowledged = async () =>
      (await one.storage.erasures.open()).some(({ acknowledgedBy }) => acknowledgedBy.length === 2)
    await until(isAcknowledged, { what: 'both nodes to have forgotten' })
    assert.equal((await receiptOf(second, id)).state, 'reduced', 'while one may hold pages of before')
    await one.storage.nodes.retire(hanging)
    await until(async () => (await receiptOf(first, id)).state === 'unreachable')
    await eraseAll(first, [contactToo])

    // Before anybody reads, which would show a node that its pages are of another state.
    assert.deepEqual(await Promise.all(names.map(holdsCanary)), [false, false, true])
    for (const node of [second, first]) {
      assert.deepEqual(showing(await readAll(node, addresses, tags)), [])
    }
    await stopNode(one)
    await stopNode(two)
    const back = await startNode('away')
    await until(async () => !(await holdsCanary('away')), { what: 'its file to be compared' })
    assert.deepEqual(showing(await readAll({ port: back.port, tenant }, addresses, tags)), [])
    await stopNode(back)
  })
})

async function createTenant(storage: StorageEngine): Promise<TestTenant> {
  const tenantId = crypto.randomUUID()
  await storage.tenants.createTenant({ tenantId, name: 'Agency', createdMs: 1, suspended: false }, 'cli:test')
  const keyWith = async (verb: string) => {
    const grants = [{ tenantId, scopes: scopes.filter((scope) => scope.endsWith(verb)) }]
    const request = {
      label: 'test',
      operator: false,
      grants,
      expiresMs: undefined,
      nowMs: Date.now(),
      actor: 'cli:test' as const,
    }
    const outcome = await issueKey(storage.keys, pepper, request)
    assert.ok(outcome.kind === 'issued')
    return outcome.text
  }
  const [readKey, publishKey, eraseKey] = [
    await keyWith('read'),
    await keyWith('publish'),
    await keyWith('erase'),
  ]
  return { tenantId, readKey, publishKey, eraseKey }
}
