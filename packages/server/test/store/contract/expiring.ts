import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { uuidV7 } from '@property-events/protocol'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { draft, feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { erase, erasureOf, subject } from '../support/erasing.ts'
import { codes, list, publish } from '../support/read-back.ts'
import { restrict } from '../support/restricting.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock, ticks } from '../support/test-clock.ts'
import { moveRound } from './moving.ts'
import { transfer } from './transferring.ts'

const key = feedKey(tenantA, 'contact')

function ms(text: string): number {
  return Date.parse(`${text}Z`)
}

async function enlistAll(store: StorageEngine, before: string, today: string, limit = 10): Promise<number> {
  const step = { tenantId: tenantA, before: ticks(before), todayMs: ms(`${today}T00:00:00`), limit }
  for (let looked = 0; ;) {
    const more = await store.expiry.enlist(step)
    if (more === 0) return looked
    looked += more
  }
}

async function names(store: StorageEngine): Promise<readonly string[]> {
  const listed = await store.expiry.listed(tenantA, undefined, 100)
  return ['c', 'd', 'e'].filter((name) => listed.some(({ subjectId }) => subjectId === uuid(name)))
}

/** `c` of January, `d` of February, `e` of March. */
async function storeOfContacts(factory: StoreFactory) {
  const { clock, set } = testClock('2025-01-10T12:00:00')
  const store = await withTenants(await factory.create({ clock }))
  for (const [name, day] of [
    ['c', '2025-01-10'],
    ['d', '2025-02-10'],
    ['e', '2025-03-10'],
  ] as const) {
    set(`${day}T12:00:00`)
    await publish(store, [draft({ subject: name, text: name })], { key })
  }
  set('2025-04-01T12:00:00')
  return { store, set }
}

export function expiringContract(factory: StoreFactory): void {
  describe('contacts that have not changed', () => {
    it('come on a list once they are old enough, with the day, and stay there as they were (D17)', async () => {
      await using store = (await storeOfContacts(factory)).store
      assert.equal(await enlistAll(store, '2025-01-01', '2025-04-01'), 0)
      assert.equal(await enlistAll(store, '2025-03-01', '2025-04-01', 1), 2)
      assert.equal(await enlistAll(store, '2025-03-01', '2025-04-02', 1), 0)
      const listed = await store.expiry.listed(tenantA, undefined, 10)
      const since = new Map([
        [uuid('c'), ['2025-01-10', 1]],
        [uuid('d'), ['2025-02-10', 2]],
      ])
      assert.deepEqual(
        listed,
        [...since.keys()].toSorted().map((subjectId) => {
          const [day, position] = since.get(subjectId) ?? []
          const unchangedSinceMs = ms(`${day}T12:00:00`)
          return { subjectId, position, unchangedSinceMs, listedMs: ms('2025-04-01T00:00:00') }
        }),
      )
      assert.deepEqual(await store.expiry.listed(tenantA, listed[0]?.subjectId, 10), listed.slice(1))
      assert.deepEqual(await store.expiry.listed(tenantA, undefined, 1), listed.slice(0, 1))
      assert.deepEqual(
        await store.expiry.listed(tenantB, undefined, 10),
        [],
        'another tenant sees none (P10)',
      )
    })

    it('come on the list whatever their reference is, and go along with a copy (D17)', async () => {
      const { clock, set } = testClock('2025-01-10T12:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      const references = ['0', 'f'].map((digit) =>
        'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'.replaceAll('x', digit),
      )
      for (const subjectId of references)
        await publish(store, [{ ...draft({ subject: 'c' }), subjectId, id: uuid(subjectId) }], { key })
      set('2025-04-01T12:00:00')
      await enlistAll(store, '2025-03-01', '2025-04-01')
      await using copy = await withTenants(await factory.create())
      await transfer(store, copy)
      for (const one of [store, copy]) {
        const listed = await one.expiry.listed(tenantA, undefined, 10)
        assert.deepEqual(
          listed.map(({ subjectId }) => subjectId),
          references,
        )
      }
    })

    it('leave the list when something is published about them, and come back after the same time (D17)', async () => {
      const { store, set } = await storeOfContacts(factory)
      await using open = store
      await enlistAll(open, '2025-03-01', '2025-04-01')
      await publish(open, [draft({ subject: 'c', text: 'changed' })], { key })
      assert.deepEqual(await names(open), ['d'])
      set('2025-06-01T12:00:00')
      await enlistAll(open, '2025-05-01', '2025-06-01')
      assert.deepEqual(await names(open), ['c', 'd', 'e'])
    })

    it('can be kept, with a row in the audit, for as long as if they had changed (D17)', async () => {
      const { store, set } = await storeOfContacts(factory)
      await using open = store
      await enlistAll(open, '2025-03-01', '2025-04-01')
      assert.deepEqual(await open.expiry.keep(tenantA, uuid('c'), 'cli:me'), { kind: 'kept' })
      // One that is not on the list yet is kept off it.
      assert.deepEqual(await open.expiry.keep(tenantA, uuid('e'), 'cli:me'), { kind: 'kept' })
      assert.deepEqual(await open.expiry.keep(tenantA, uuid('nobody'), 'cli:me'), { kind: 'unknownContact' })
      assert.deepEqual(await open.expiry.keep(tenantB, uuid('c'), 'cli:me'), { kind: 'unknownContact' })
      await enlistAll(open, '2025-04-01', '2025-04-15')
      assert.deepEqual(await names(open), ['d'])
      set('2025-07-01T12:00:00')
      await enlistAll(open, '2025-06-01', '2025-07-01')
      assert.deepEqual(await names(open), ['c', 'd', 'e'])
      const rows = await open.audit.read({ first: 'oldest', action: 'contact.kept', limit: 10 })
      assert.ok(rows !== 'unknownRow')
      assert.deepEqual(
        rows.map(({ tenant, target, actor, detail }) => [tenant, target, actor, detail]),
        ['c', 'e'].map((name) => [tenantA, uuid(name), 'cli:me', {}]),
      )
    })

    it('are erased only while their latest event is the one that was looked at (D17)', async () => {
      const { store } = await storeOfContacts(factory)
      await using open = store
      await enlistAll(open, '2025-03-01', '2025-04-01')
      const begin = (name: string, position: number) => {
        const ids = { erasureId: uuidV7(Date.now()), closingEventId: uuidV7(Date.now()) }
        return open.erasures.beginUnchanged(erasureOf(subject(name), { key, ...ids }), position)
      }
      await publish(open, [draft({ subject: 'c', text: 'changed' })], { key })
      assert.deepEqual(await begin('c', 1), { kind: 'changed' })
      assert.deepEqual(await begin('nobody', 1), { kind: 'changed' })
      const before = await list(open, { key })
      assert.deepEqual(codes(before), [
        'ContactCreated',
        'ContactCreated',
        'ContactCreated',
        'ContactUpdated',
      ])
      assert.equal((await begin('d', 2)).kind, 'begun')
      assert.deepEqual(await begin('d', 2), { kind: 'changed' }, 'it was closed')
      assert.deepEqual((await list(open, { key })).slice(0, 4), before)
    })

    it('go along with a copy, a move and a backup: on the list, and kept off it (D17)', async () => {
      const { store } = await storeOfContacts(factory)
      await using open = store
      await enlistAll(open, '2025-03-01', '2025-04-01')
      await open.expiry.keep(tenantA, uuid('c'), 'cli:me')
      await using copy = await withTenants(await factory.create())
      await using target = await withTenants(await factory.create())
      await target.moves.change(tenantA, 'open', 'arriving one run', 'cli:test')
      await transfer(open, copy)
      await moveRound(open, target)
      // What has changed since goes along the next time.
      await open.expiry.keep(tenantA, uuid('e'), 'cli:me')
      await open.moves.change(tenantA, 'open', 'leaving', 'cli:test')
      assert.deepEqual(await open.expiry.keep(tenantA, uuid('d'), 'cli:me'), { kind: 'tenantMoving' })
      assert.deepEqual(await open.expiry.keep(tenantA, uuid('nobody'), 'cli:me'), { kind: 'unknownContact' })
      await transfer(open, copy)
      await moveRound(open, target)
      await target.moves.change(tenantA, 'arriving one run', 'open', 'cli:test')
      await using backup = await factory.copy(open)
      const listed = await open.expiry.listed(tenantA, undefined, 10)
      for (const other of [copy, target, backup]) {
        assert.deepEqual(await other.expiry.listed(tenantA, undefined, 10), listed)
        // Looked at anew, with the other store's own walk: what was kept stays off it, and who is on it stays since the same day.
        await enlistAll(other, '2025-04-01', '2025-04-15')
        assert.deepEqual(await other.expiry.listed(tenantA, undefined, 10), listed)
        // And is back after as long as if it had changed.
        await enlistAll(other, '2025-06-01', '2025-07-01')
        assert.deepEqual(await names(other), ['c', 'd', 'e'])
      }
    })

    it('do not come on the list while they are restricted, nor can be kept then (D17)', async () => {
      const { store } = await storeOfContacts(factory)
      await using open = store
      await enlistAll(open, '2025-03-01', '2025-04-01')
      await restrict(open, 'd')
      assert.deepEqual(await names(open), ['c'])
      await enlistAll(open, '2025-08-01', '2025-09-01')
      assert.deepEqual(await names(open), ['c', 'e'])
      assert.deepEqual(await open.expiry.keep(tenantA, uuid('d'), 'cli:me'), { kind: 'unknownContact' })
    })

    it('do not come on the list again once they are erased (D17)', async () => {
      const { store, set } = await storeOfContacts(factory)
      await using open = store
      await enlistAll(open, '2025-03-01', '2025-04-01')
      await erase(open, subject('d'), { key })
      assert.deepEqual(await names(open), ['c'])
      set('2025-09-01T12:00:00')
      await enlistAll(open, '2025-08-01', '2025-09-01')
      assert.deepEqual(await names(open), ['c', 'e'])
      assert.deepEqual(await open.expiry.keep(tenantA, uuid('d'), 'cli:me'), { kind: 'unknownContact' })
    })
  })
}
