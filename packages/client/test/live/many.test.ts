/** `client.followMany`: one key, many tenants, one request that waits (PROTOCOL §11.5). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { publish } from '../../../server/test/support/http-client.ts'
import { property } from '../../../server/test/support/property.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { until, within } from '../../../server/test/support/until.ts'
import { AccessError } from '../../src/index.ts'
import type { FollowPosition, TenantMark } from '../../src/index.ts'
import { clientOf, watched } from '../support/live.ts'

describe('following many tenants', () => {
  let service: TestService
  /** Tenants, and a key for each to publish with. */
  const tenants = new Map<string, string>()
  let key = ''
  let keyId = ''

  async function addTenant(): Promise<string> {
    const tenantId = randomUUID()
    const made = { tenantId, name: tenantId, createdMs: Date.now(), suspended: false }
    await service.storage.tenants.createTenant(made, 'cli:test')
    const grants = [{ tenantId, scopes: ['property:publish' as const] }]
    tenants.set(tenantId, (await service.issue({ grants })).text)
    return tenantId
  }

  before(async () => {
    service = await startTestService()
    for (let left = 12; left > 0; left -= 1) await addTenant()
    const scopes = ['property:read' as const]
    const grants = [...tenants.keys()].map((tenantId) => ({ tenantId, scopes }))
    const issued = await service.issue({ grants })
    key = issued.text
    keyId = issued.keyId
  })
  after(() => service.stop())

  const publishFor = (tenantId: string, count = 1) =>
    publish(
      service,
      Array.from({ length: count }, () => ({ payload: property() })),
      { key: tenants.get(tenantId) ?? '' },
    )

  /** The logs of a reader by tenant, and what stops it. */
  function following(
    query: Parameters<ReturnType<typeof clientOf>['followMany']>[0] = {},
    inner?: typeof fetch,
  ) {
    const logs = new Map<string, number[]>()
    const positions = new Map<string, FollowPosition>()
    const marks: TenantMark[] = []
    const ended = new AbortController()
    const { fetch, seen } = watched(inner)
    const client = clientOf(service, { key, fetch })
    const onMark = (mark: TenantMark) => void marks.push(mark)
    const reading = (async () => {
      const events = client.followMany({ onMark, ...query, signal: ended.signal })
      for await (const { tenantId, sequenceNumber, checkpoint } of events) {
        logs.set(tenantId, [...(logs.get(tenantId) ?? []), sequenceNumber])
        positions.set(tenantId, checkpoint)
      }
    })()
    reading.catch(() => undefined)
    return {
      logs,
      positions,
      marks,
      seen,
      reading,
      count: () => [...logs.values()].flat().length,
      async stop() {
        ended.abort()
        await reading
      },
    }
  }

  it('hands out the events of each in order, old and new, over one waiting request (L1)', async () => {
    for (const tenantId of tenants.keys()) await publishFor(tenantId, 3)
    const reader = following({ after: 0 })
    await until(() => reader.count() === 36)
    const [one = '', two = ''] = tenants.keys()
    await publishFor(one, 2)
    await publishFor(two)
    await until(() => reader.count() === 39)
    await reader.stop()
    assert.deepEqual(reader.logs.get(one), [1, 2, 3, 4, 5])
    assert.deepEqual(reader.logs.get(two), [1, 2, 3, 4])
    assert.ok(reader.seen.every(({ path }) => !path.includes('/stream')))
    const mark = reader.marks.findLast(({ tenantId }) => tenantId === one)
    assert.deepEqual([mark?.checkpoint.after, mark?.head], [5, 5])
  })

  it('continues where each tenant was, and reads nothing of those that have not moved (L1)', async () => {
    const [one = '', two = ''] = tenants.keys()
    const first = following({ after: 0 })
    await until(() => first.count() >= 39)
    await first.stop()
    await publishFor(two, 2)
    const second = following({ positions: first.positions })
    await until(() => second.count() === 2)
    await second.stop()
    assert.deepEqual([...second.logs.keys()], [two])
    assert.equal(second.positions.get(two)?.after, 6)
    assert.ok(first.positions.has(one))
    assert.ok(second.seen.filter(({ path }) => path.includes('-events')).length <= 14)
  })

  it('begins with what comes from now on, and reads a tenant that is added from its first event', async () => {
    const reader = following()
    await until(() => reader.seen.length >= 1)
    const [one = ''] = tenants.keys()
    await until(async () => {
      await publishFor(one)
      return reader.count() > 0
    })
    assert.deepEqual([...reader.logs.keys()], [one])
    await reader.stop()
  })

  it('reports what concerns one tenant alone, and reads the others', async () => {
    const [one = '', two = ''] = tenants.keys()
    const troubles: [string, string | undefined][] = []
    let isBroken = true
    const reader = following(
      { onTrouble: ({ code }, tenantId) => void troubles.push([code, tenantId]) },
      async (input, init) => {
        const tenant = new Headers(init?.headers).get('x-tenant')
        if (tenant === two && isBroken) return Response.json({ code: 'storage_damaged' }, { status: 500 })
        return fetch(input, init)
      },
    )
    await until(() => reader.seen.length >= 2)
    await publishFor(two)
    await publishFor(one)
    await until(() => reader.logs.has(one) && troubles.length > 0)
    assert.deepEqual(troubles[0], ['storage_damaged', two])
    isBroken = false
    await until(() => reader.logs.has(two))
    await reader.stop()
  })

  it('rereads a tenant whose numbers have changed their meaning, if its caller can start over; else it ends (D13)', async () => {
    const [one = ''] = tenants.keys()
    const startEpoch = () => service.storage.startEpoch(0, 'cli:test', [{ tenantId: one, feed: 'property' }])
    const strict = following()
    await until(() => strict.seen.length >= 2)
    const resets: string[] = []
    const reader = following({ onReset: (reason, tenantId) => void resets.push(`${reason} ${tenantId}`) })
    await until(() => reader.seen.length >= 2)
    await startEpoch()
    await assert.rejects(within(strict.reading), { code: 'epoch_changed' })
    await until(() => resets.length > 0 && (reader.logs.get(one)?.length ?? 0) > 3)
    assert.equal(reader.logs.get(one)?.[0], 1)
    assert.deepEqual(resets, [`epoch_changed ${one}`])
    await reader.stop()
  })

  it('ends with its key (D11)', async () => {
    const reader = following()
    await until(() => reader.seen.length >= 2)
    await service.storage.keys.revokeKey(keyId, Date.now(), 'cli:test')
    await assert.rejects(within(reader.reading), AccessError)
  })
})
