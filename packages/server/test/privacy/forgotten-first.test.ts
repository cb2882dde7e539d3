/** A receipt says that nothing can be reached any more only when this node has forgotten what it holds in memory and in its file of pages. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { feedNames, uuidV7 } from '@property-events/protocol'
import { unreported } from '../../src/runtime/background-task.ts'
import { carryOutDeletions } from '../../src/tenants/deletion/worker.ts'
import { carryOutErasures } from '../../src/privacy/erasure/worker.ts'
import { feedName } from '../../src/events/feed-key.ts'
import type { FeedKey } from '../../src/events/feed-key.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { draft, feedKey, tenantA, uuid } from '../store/support/drafts.ts'
import { begin, subject } from '../store/support/erasing.ts'
import { publish } from '../store/support/read-back.ts'
import { beginRestriction, contacts } from '../store/support/restricting.ts'
import { withTenants } from '../store/support/stores.ts'
import { until } from '../support/until.ts'
import { temporaryStore } from '../support/temporary-store.ts'

const nodeId = uuid('node')

async function storeWithNode(): Promise<StorageEngine> {
  const store = await withTenants(await temporaryStore())
  await store.nodes.announce({ nodeId, place: 'here', pepperIds: [], ignoresProxy: false })
  for (const key of [feedKey(), contacts]) {
    const drafts = ['', ' £950', ' – ar osod 🏡'].map((text) =>
      draft({ subject: 'Siân', text: `Tŷ Gwyn${text}` }),
    )
    await publish(store, drafts, { key })
  }
  return store
}

/** What a node holds: each feed is forgotten when it is let go, and not before. */
function heldPages() {
  const held = new Map<string, () => void>()
  return {
    asked: () => [...held.keys()],
    letGo: (key: FeedKey) => held.get(feedName(key))?.(),
    forget: (key: FeedKey) => new Promise<void>((resolve) => held.set(feedName(key), resolve)),
  }
}

/** Long enough for whatever does not wait. */
async function turns(): Promise<void> {
  for (let count = 0; count < 20; count += 1) await turn()
}

describe('until this node has forgotten its pages', () => {
  it('an erasure is not unreachable (D17)', async () => {
    await using store = await storeWithNode()
    const { erasureId } = await begin(store, subject('Siân'))
    const state = async () => (await store.erasures.find(tenantA, erasureId))?.state
    const pages = heldPages()
    const compare = async () => undefined
    const erasing = carryOutErasures({
      storage: store,
      nodeId,
      forget: pages.forget,
      compare,
      report: unreported,
    })
    try {
      await until(() => pages.asked().length > 0, { what: 'forgetting' })
      await turns()
      assert.equal(await state(), 'reduced')
      pages.letGo(feedKey())
      await until(async () => (await state()) === 'unreachable', { what: 'the end' })
    } finally {
      pages.letGo(feedKey())
      await erasing.close()
    }
  })

  it('a restriction is not in force (D17)', async () => {
    await using store = await storeWithNode()
    const { restrictionId } = await beginRestriction(store, 'Siân')
    const open = async () =>
      (await store.restrictions.open()).find((one) => one.restrictionId === restrictionId)
    const pages = heldPages()
    const compare = async () => undefined
    const erasing = carryOutErasures({
      storage: store,
      nodeId,
      forget: pages.forget,
      compare,
      report: unreported,
    })
    try {
      await until(() => pages.asked().length > 0, { what: 'forgetting' })
      await turns()
      assert.equal((await open())?.state, 'hidden')
      pages.letGo(contacts)
      await until(async () => (await open()) === undefined, { what: 'the end' })
    } finally {
      pages.letGo(contacts)
      await erasing.close()
    }
  })

  it('nothing is erased while the file of pages may hold what was erased while the node was away (D17)', async () => {
    await using store = await storeWithNode()
    const { erasureId } = await begin(store, subject('Siân'))
    const compared = Promise.withResolvers<void>()
    let asked = false
    const compare = async () => {
      asked = true
      await compared.promise
    }
    const forget = async () => undefined
    const erasing = carryOutErasures({ storage: store, nodeId, forget, compare, report: unreported })
    const state = async () => (await store.erasures.find(tenantA, erasureId))?.state
    try {
      await until(() => asked, { what: 'the comparison' })
      await turns()
      assert.equal(await state(), 'reducing')
      compared.resolve()
      await until(async () => (await state()) === 'unreachable', { what: 'the end' })
    } finally {
      compared.resolve()
      await erasing.close()
    }
  })

  it('a tenant is not deleted, and the pages of both its feeds are forgotten (PROTOCOL §12.9, D17)', async () => {
    await using store = await storeWithNode()
    await store.tenants.changeTenant(tenantA, { suspended: true }, 'cli:test')
    const deletionId = uuidV7(Date.now())
    await store.deletions.begin({ deletionId, tenantId: tenantA, export: 'none' }, 'cli:test')
    const state = async () => (await store.deletions.find(deletionId))?.state
    const pages = heldPages()
    const deleting = carryOutDeletions({
      storage: store,
      nodeId,
      forget: pages.forget,
      report: unreported,
      settleMs: 0,
    })
    const keys = feedNames.map((feed) => feedKey(tenantA, feed))
    try {
      for (const key of keys) {
        await until(() => pages.asked().includes(feedName(key)), { what: `forgetting ${feedName(key)}` })
        await turns()
        assert.equal(await state(), 'forgetting')
        pages.letGo(key)
      }
      await until(async () => (await state()) === 'deleted', { what: 'the end' })
      assert.deepEqual(pages.asked(), keys.map(feedName))
    } finally {
      for (const key of keys) pages.letGo(key)
      await deleting.close()
    }
  })
})
