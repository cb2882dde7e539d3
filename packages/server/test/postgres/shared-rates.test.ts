/** The rate of a key on several nodes of one database: divided among those that live, within seconds. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { createLogger, createService, issueKey, loadPeppers, openStorage } from '../../src/index.ts'
import { tenantA, uuid } from '../store/support/drafts.ts'
import { testClock } from '../store/support/test-clock.ts'
import { withTenants } from '../store/support/stores.ts'
import { call, listPath } from '../support/http-client.ts'
import { until } from '../support/until.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

let databases: TestDatabases
before(async () => {
  databases = await testDatabases()
})
after(() => databases[Symbol.asyncDispose]())

it('a node that joins takes its share of every rate, and one that leaves or dies gives it back to the others (D10)', async () => {
  const url = await databases.create()
  const time = testClock('2026-03-01T10:00:00Z')
  const [pepper] = loadPeppers({ folder: undefined, given: undefined })
  const open = () =>
    openStorage({
      kind: 'postgres',
      url,
      readConnections: 1,
      create: true,
      catalogue: catalogues.default,
      clock: time.clock,
    })
  const serve = async () => {
    const storage = await open()
    const service = await createService({
      storage,
      peppers: [pepper],
      log: createLogger({ level: 'silent' }),
      host: '127.0.0.1',
      port: 0,
      metrics: undefined,
      limits: { requests: { perSecond: 1, burst: 40 } },
    })
    const close = async (): Promise<void> => {
      await service.close()
      await storage.close()
    }
    return { storage, close, port: Number(new URL(service.url).port) }
  }
  const first = await serve()
  await withTenants(first.storage)
  const issued = await issueKey(first.storage.keys, pepper, {
    label: '',
    operator: false,
    grants: [{ tenantId: tenantA, scopes: ['property:read'] }],
    expiresMs: undefined,
    nowMs: Date.now(),
    actor: 'cli:test',
  })
  assert(issued.kind === 'issued')
  /** By a poll, which costs nothing. */
  const leftAt = async ({ port }: { readonly port: number }): Promise<number> => {
    const headers = { 'if-none-match': '*' }
    const answer = await call({ port }, listPath, { key: issued.text, headers })
    assert.equal(answer.headers['ratelimit-policy'], '"key";q=40;w=40, "tenant";q=200;w=40')
    return Number(/^"key";r=(\d+);t=0$/.exec(String(answer.headers.ratelimit))?.[1])
  }
  const leaves = (what: string, count: number) =>
    until(async () => (await leftAt(first)) === count, { what, everyMs: 50 })
  try {
    assert.equal(await leftAt(first), 40)
    const second = await serve()
    assert.equal(await leftAt(second), 20)
    await leaves('the share of two nodes', 20)
    await second.close()
    await leaves('the whole rate, after one has gone', 40)
    await first.storage.nodes.announce({
      nodeId: uuid('killed'),
      place: 'elsewhere',
      pepperIds: [],
      ignoresProxy: false,
    })
    await leaves('the share of two nodes, one of which says no more', 20)
    time.set('2026-03-01T10:00:10Z')
    await leaves('the whole rate, after one has died', 40)
  } finally {
    await first.close()
  }
})
