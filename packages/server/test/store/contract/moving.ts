import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { feedNames } from '@property-events/protocol'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { MoveState } from '../../../src/events/feed.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import type { StoreRecord } from '../../../src/store/store-records.ts'
import { batch, draft, feedKey, removal, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { codes, headOf, list, located, numbers, publish } from '../support/read-back.ts'
import { until } from '../../support/until.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock, ticks } from '../support/test-clock.ts'
import { storeWithHistory } from './transferring.ts'

const closed = [{ kind: 'tenantMoving' }]
const arriving: MoveState = 'arriving one run'

/** One round of a move: what the target lacks. */
export async function moveRound(
  from: StorageEngine,
  to: StorageEngine,
  tenantId: string = tenantA,
): Promise<readonly StoreRecord[]> {
  const positions = new Map<string, number>()
  for (const feed of feedNames) positions.set(feed, (await headOf(to, { tenantId, feed })).position)
  const taken: StoreRecord[] = []
  const held = ({ feed }: FeedKey) => ({ position: positions.get(feed) ?? 0, skippedUntil: 0n })
  await from.moves.exportTenant(tenantId, held, async (records) => {
    taken.push(...records)
    await to.importRecords(
      records.map((one) => (one.kind === 'feed' ? { ...one, move: arriving } : one)),
      'cli:test',
    )
  })
  return taken
}

async function target(factory: StoreFactory): Promise<StorageEngine> {
  const store = await withTenants(await factory.create())
  await store.moves.change(tenantA, 'open', arriving, 'cli:test')
  return store
}

export function movingContract(factory: StoreFactory): void {
  describe('moving a tenant', () => {
    it('refuses publications in every state but open, and stores what others publish in the same commit', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p' })])
      let state: MoveState = 'open'
      for (const next of ['leaving', 'left', 'abandoned', arriving] as const) {
        assert.equal(await store.moves.change(tenantA, state, next, 'cli:test'), 'done')
        state = next
        assert.deepEqual(await store.moves.states(), new Map([[tenantA, next]]))
        const [refused, stored] = await store.events.append([
          batch([draft({ subject: 'p' })]),
          batch([draft({ subject: 'p' })], { key: feedKey(tenantB) }),
        ])
        assert.deepEqual([refused], closed)
        assert.equal(stored?.kind, 'stored')
        const contacts = batch([draft({ subject: 'c' })], { key: feedKey(tenantA, 'contact') })
        assert.deepEqual(await store.events.append([contacts]), closed)
        assert.deepEqual(await store.events.preview(batch([draft({ subject: 'p' })])), closed[0])
      }
      assert.equal(await store.moves.change(tenantA, state, 'open', 'cli:test'), 'done')
      assert.deepEqual(await store.moves.states(), new Map())
      assert.deepEqual(numbers(await publish(store, [draft({ subject: 'p' })]).then(storedOf)), [2])
    })

    it('changes a state only from the named one, and only for an existing tenant', async () => {
      await using store = await withTenants(await factory.create())
      assert.equal(await store.moves.change(tenantA, 'leaving', 'left', 'cli:test'), 'otherState')
      assert.equal(await store.moves.change(tenantA, 'open', arriving, 'cli:test'), 'done')
      assert.equal(
        await store.moves.change(tenantA, 'arriving another run', 'open', 'cli:test'),
        'otherState',
      )
      assert.equal(await store.moves.change(uuid('nobody'), 'open', 'leaving', 'cli:test'), 'otherState')
      assert.deepEqual(await store.moves.states(), new Map([[tenantA, arriving]]))
    })

    it('keeps its state and its answers when the store is backed up', async () => {
      await using store = await withTenants(await factory.create())
      await store.moves.change(tenantA, 'open', 'left', 'cli:test')
      await using copy = await factory.copy(store)
      await copy.startEpoch(10, 'cli:test')
      assert.deepEqual(await copy.moves.states(), new Map([[tenantA, 'left']]))
      assert.deepEqual(await copy.events.append([batch([draft({ subject: 'p' })])]), closed)
    })

    it('is kept by a copy of the whole store', async () => {
      await using from = await withTenants(await factory.create())
      await using to = await withTenants(await factory.create())
      await from.moves.change(tenantA, 'open', 'left', 'cli:test')
      await from.exportRecords(
        () => 0,
        (records) => to.importRecords(records, 'cli:test'),
      )
      assert.deepEqual(await to.moves.states(), new Map([[tenantA, 'left']]))
    })

    it('answers open windows while it is leaving, and not once it may be published elsewhere (P3)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', requestedCreated: ticks('2025-01-30') })])
      await publish(store, [draft({ subject: 'p', requestedCreated: ticks('2025-01-31') })])
      const open = { from: ticks('2025-01-01') }
      await store.moves.change(tenantA, 'open', 'leaving', 'cli:test')
      assert.equal((await located(store, open)).range.count, 2)
      for (const [from, to] of [
        ['leaving', 'left'],
        ['left', 'abandoned'],
        ['abandoned', arriving],
      ] as const) {
        await store.moves.change(tenantA, from, to, 'cli:test')
        await assert.rejects(located(store, open), { name: 'StorageFailure', code: 'tenant_moving' })
        await assert.rejects(located(store, { to: ticks('2099-01-01') }), { code: 'tenant_moving' })
        assert.equal((await located(store)).range.count, 2)
        assert.equal((await located(store, { ...open, to: ticks('2025-01-31') })).range.count, 1)
        // Stamps rise, so no later event can have the stamp of the last one.
        const one = { from: ticks('2025-01-31'), to: ticks('2025-01-31') + 1n }
        assert.equal((await located(store, one)).range.count, 1)
        await assert.rejects(located(store, { to: one.to + 1n }), { code: 'tenant_moving' })
        assert.equal((await store.events.readAfter({ ...all, after: 0 })).length, 2)
        assert.deepEqual(numbers(await list(store, { key: feedKey(tenantB), ...open })), [])
      }
    })

    it('stamps nothing at the target before a window that the source has answered, and allows no other writer (P3)', async () => {
      const [there, here] = [testClock('2025-01-31T12:00:30'), testClock('2025-01-31T12:00:00')]
      await using from = await withTenants(await factory.create({ clock: there.clock }))
      await using to = await withTenants(await factory.create({ clock: here.clock }))
      const asked = { from: ticks('2025-01-31T12:00:30') }
      assert.deepEqual(await list(from, asked), [])
      await from.moves.change(tenantA, 'open', 'left', 'cli:test')
      await to.moves.change(tenantA, 'open', arriving, 'cli:test')
      await moveRound(from, to)
      await to.moves.change(tenantA, arriving, 'open', 'cli:test')
      await publish(to, [draft({ subject: 'a' }), draft({ subject: 'b' })])
      await publish(to, [draft({ subject: 'c' })])
      assert.deepEqual(numbers(await list(to, asked)), [1, 2, 3])
      const [other] = await publish(to, [draft({ subject: 'a' })], { key: feedKey(tenantB) })
      assert.ok(
        (other?.stored?.createdDate ?? '') < '2025-01-31T12:00:01',
        'no other tenant is stamped ahead',
      )
    })

    it('brings one tenant with everything that publishing depends on, beside existing ones (P9, D12, D14)', async () => {
      await using from = await storeWithHistory(await factory.create())
      await using to = await target(factory)
      await to.startEpoch(90_000, 'cli:test')
      await publish(to, [draft({ subject: 'own' })], { key: feedKey(tenantB) })
      const before = await list(to, { key: feedKey(tenantB) })
      await from.moves.change(tenantA, 'open', 'leaving', 'cli:test')
      const records = await moveRound(from, to)
      assert.ok(records.every((record) => record.kind !== 'whole' && record.key.tenantId === tenantA))
      assert.equal(await to.moves.change(tenantA, arriving, 'open', 'cli:test'), 'done')
      await from.moves.change(tenantA, 'leaving', 'open', 'cli:test')
      for (const store of [from, to]) {
        const repeat = draft({ subject: 'p', id: 'first', text: 'a', category: 'sales' })
        assert.equal((await publish(store, [repeat]))[0]?.status, 'repeated')
        const clash = draft({ subject: 'p', id: 'skipped', text: 'other' })
        assert.equal((await store.events.append([batch([clash])]))[0]?.kind, 'idConflict')
        await publish(store, [draft({ subject: 'q', category: 'lettings' }), removal({ subject: 'p' })])
      }
      for (const view of ['all', 'sales', 'lettings'] as const) {
        assert.deepEqual(numbers(await list(to, { view })), numbers(await list(from, { view })))
        assert.deepEqual(codes(await list(to, { view })), codes(await list(from, { view })))
        const latest = { ...all, view, after: 0, latestOnly: true }
        const [here, there] = [await to.events.readAfter(latest), await from.events.readAfter(latest)]
        assert.deepEqual(numbers(here), numbers(there))
      }
      assert.equal((await headOf(to)).epoch, (await headOf(from)).epoch)
      assert.deepEqual(await list(to, { key: feedKey(tenantB) }), before)
    })

    it('continues with what has come since, including ids that were skipped, piece by piece (P9, D14)', async () => {
      await using from = await withTenants(await factory.create())
      await using to = await target(factory)
      const many = Array.from({ length: 1_200 }, (_, index) => {
        return draft({ subject: `p${index % 700}`, id: `id ${index}`, text: `${index}` })
      })
      await publish(from, many)
      const held = () => ({ position: 0, skippedUntil: 0n })
      let pieces = 0
      const stopped = from.moves.exportTenant(tenantA, held, async (records) => {
        pieces += 1
        if (pieces === 3) throw new Error('stopped')
        await to.importRecords(records, 'cli:test')
      })
      await assert.rejects(stopped)
      assert.equal((await headOf(to)).position, 1_000)
      await publish(from, [draft({ subject: 'p1', id: 'skipped', text: '701' })], { unchanged: 'skip' })
      await publish(from, [draft({ subject: 'p2', text: 'news' })])
      await moveRound(from, to)
      await to.moves.change(tenantA, arriving, 'open', 'cli:test')
      for (const store of [from, to]) {
        const again = [many[0], many[999], many[1_100]].flatMap((one) => one ?? [])
        const skipped = draft({ subject: 'p1', id: 'skipped', text: '701' })
        const lines = await publish(store, [...again, skipped])
        assert.deepEqual(
          lines.map(({ status, stored }) => [status, stored?.sequenceNumber]),
          [
            ['repeated', 1],
            ['repeated', 1_000],
            ['repeated', 1_101],
            ['repeated', 702],
          ],
        )
        assert.equal((await store.events.readLatest(feedKey(), uuid('p2')))?.sequenceNumber, 1_201)
      }
    })

    it('closes between two commits: nothing that is acknowledged comes after the state was changed (P7)', async () => {
      await using store = await withTenants(await factory.create())
      const acknowledged: string[] = []
      const publishing = Array.from({ length: 4 }, async (_, one) => {
        for (let n = 0; ; n += 1) {
          const [outcome] = await store.events.append([batch([draft({ subject: `${one} ${n}` })])])
          if (outcome?.kind === 'tenantMoving') return
          assert.equal(outcome?.kind, 'stored')
          acknowledged.push(`${one} ${n}`)
          await turn()
        }
      })
      await until(() => acknowledged.length >= 20, { what: '20 publications', everyMs: 0 })
      await store.moves.change(tenantA, 'open', 'leaving', 'cli:test')
      const { position } = await headOf(store)
      await Promise.all(publishing)
      assert.equal((await headOf(store)).position, position)
      assert.equal(acknowledged.length, position)
    })
  })
}

/** Lets others go first, on engines that never wait. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

const all = { key: feedKey(), view: 'all', limit: 2_000, latestOnly: false } as const

function storedOf(
  lines: readonly { readonly stored?: { readonly sequenceNumber: number } }[],
): readonly { readonly sequenceNumber: number }[] {
  return lines.flatMap(({ stored }) => stored ?? [])
}
