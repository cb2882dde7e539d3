/** Deletions of tenants are carried out by every node of a store at once. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { uuidV7 } from '@property-events/protocol'
import { unreported } from '../../src/runtime/background-task.ts'
import { carryOutDeletions } from '../../src/tenants/deletion/worker.ts'
import { draft, feedKey, tenantA, uuid } from '../store/support/drafts.ts'
import { publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { temporaryStore } from '../support/temporary-store.ts'
import { until } from '../support/until.ts'

describe('a tenant that is being deleted', () => {
  it('is exported by one node alone, however often the others look meanwhile (PROTOCOL §12.9)', async () => {
    await using store = await withTenants(await temporaryStore())
    await publish(store, [draft({ subject: 'p', text: 'Tŷ’r Bont – £450,000 🏡' })], {
      key: feedKey(tenantA),
    })
    await store.tenants.changeTenant(tenantA, { suspended: true }, 'cli:test')
    const nodes = ['one', 'two', 'three'].map(uuid)
    for (const nodeId of nodes) {
      await store.nodes.announce({ nodeId, place: 'test', pepperIds: [], ignoresProxy: false })
    }
    const exporters: string[] = []
    const exported = Promise.withResolvers<void>()
    const looks = new Map<string, number>()
    const began = await store.deletions.begin(
      { deletionId: uuidV7(Date.now()), tenantId: tenantA, export: 'service' },
      'cli:test',
    )
    assert.equal(began.kind, 'begun')
    const workers = nodes.map((nodeId) =>
      carryOutDeletions({
        storage: {
          deletions: {
            ...store.deletions,
            async open() {
              looks.set(nodeId, (looks.get(nodeId) ?? 0) + 1)
              return store.deletions.open()
            },
          },
        },
        nodeId,
        forget: () => Promise.resolve(),
        async exportTenant() {
          exporters.push(nodeId)
          await exported.promise
          return { file: 'tenant.db', bytes: 7, sha256: 'ab'.repeat(32) }
        },
        report: unreported,
        settleMs: 0,
      }),
    )
    try {
      await until(() => exporters.length > 0, { what: 'an export' })
      const haveLooked = (): boolean =>
        nodes.every((nodeId) => exporters.includes(nodeId) || (looks.get(nodeId) ?? 0) >= 3)
      await until(haveLooked, { what: 'three looks of each other node' })
      exported.resolve()
      await until(async () => (await store.deletions.open()).length === 0, { what: 'the end' })
      assert.equal(exporters.length, 1)
    } finally {
      exported.resolve()
      for (const worker of workers) await worker.close()
    }
  })
})
