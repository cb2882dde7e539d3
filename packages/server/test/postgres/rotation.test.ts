/** Rotating a key that is in use on three nodes of one database: nobody is refused before the old key ends, and it ends on all. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { catalogues } from '@property-events/protocol'
import {
  createLogger,
  createService,
  issueKey,
  loadPeppers,
  openStorage,
  rotateKey,
} from '../../src/index.ts'
import { tenantA } from '../store/support/drafts.ts'
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

const overlapMs = 1_500
/** The promise: every node knows by then (D11). */
const knownWithinMs = 2_000

it('a rotation under load refuses nobody within the overlap, and the old key on every node 2 s after it (D11)', async () => {
  const url = await databases.create()
  const [pepper] = loadPeppers({ folder: undefined, given: undefined })
  const serve = async () => {
    const place = { kind: 'postgres', url, readConnections: 2, create: true } as const
    const storage = await openStorage({ ...place, catalogue: catalogues.default })
    const service = await createService({
      storage,
      peppers: [pepper],
      log: createLogger({ level: 'silent' }),
      host: '127.0.0.1',
      port: 0,
      metrics: undefined,
      limits: { requests: { perSecond: 1e6, burst: 1e6 } },
    })
    const close = async (): Promise<void> => {
      await service.close()
      await storage.close()
    }
    return { storage, close, port: Number(new URL(service.url).port) }
  }
  const nodes = [await serve(), await serve(), await serve()]
  try {
    const [first] = nodes
    assert(first !== undefined)
    await withTenants(first.storage)
    const grants = [{ tenantId: tenantA, scopes: ['property:read'] as const }]
    const times = { expiresMs: undefined, nowMs: Date.now() }
    const words = { label: '', operator: false, grants, ...times, actor: 'cli:test' } as const
    const issued = await issueKey(first.storage.keys, pepper, words)
    assert(issued.kind === 'issued')
    let endsMs = Infinity
    let fresh: string | undefined
    const seen = { within: 0, after: 0, fresh: 0 }
    const read = async (port: number): Promise<boolean> => {
      const beganMs = Date.now()
      const { status } = await call({ port }, `${listPath}?pageSize=1`, { key: issued.text })
      // What was under way when the key ended may be answered either way.
      if (Date.now() < endsMs) {
        assert.equal(status, 200, 'refused within the overlap')
        seen.within += 1
      } else if (beganMs > endsMs + knownWithinMs) {
        assert.equal(status, 401, 'answered 2 s after its end')
        seen.after += 1
        return false
      }
      if (fresh !== undefined) {
        assert.equal((await call({ port }, listPath, { key: fresh })).status, 200)
        seen.fresh += 1
      }
      return true
    }
    const load = nodes.flatMap(({ port }) =>
      Array.from({ length: 2 }, async () => {
        while (await read(port)) await delay(2)
      }),
    )
    await until(() => seen.within > 2 * load.length, { what: 'some answers of each reader' })
    const rotated = await rotateKey(first.storage.keys, pepper, issued.record.keyId, {
      nowMs: Date.now(),
      overlapMs,
      actor: 'cli:test',
    })
    assert(rotated.kind === 'rotated' && rotated.old.expiresMs !== undefined)
    endsMs = rotated.old.expiresMs
    fresh = rotated.text
    await Promise.all(load)
    assert(seen.within > 4 && seen.fresh > 4, JSON.stringify(seen))
    assert.equal(seen.after, load.length)
  } finally {
    for (const { close } of nodes) await close()
  }
})
