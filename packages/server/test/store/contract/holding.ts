import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { uuidV7 } from '@property-events/protocol'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { Hold } from '../../../src/privacy/hold/hold.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { draft, feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { begin, erase, erasureOf, reduceAll, subject } from '../support/erasing.ts'
import { hold, holdOn } from '../support/holding.ts'
import { list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock } from '../support/test-clock.ts'
import { moveRound } from './moving.ts'
import { transfer } from './transferring.ts'

const contacts = feedKey(tenantA, 'contact')
const untilMs = Date.parse('2026-04-01T00:00:00Z')

/** Two events of the contact `c` and one of `d`, on the first of March. */
async function contactsHeld(factory: StoreFactory) {
  const time = testClock('2026-03-01T10:00:00Z')
  const store = await withTenants(await factory.create({ clock: time.clock }))
  await publish(store, [draft({ subject: 'c', id: 'one' }), draft({ subject: 'd' })], { key: contacts })
  await publish(store, [draft({ subject: 'c', text: 'two' })], { key: contacts })
  return { store, time }
}

function contactHold(store: StorageEngine, name = 'c', given: Partial<Hold> = {}): Promise<Hold> {
  const { holdId = uuidV7(Date.now()), untilMs: until = untilMs } = given
  return hold(store, name, { key: contacts, holdId, untilMs: until })
}

async function auditOf(store: StorageEngine): Promise<readonly unknown[]> {
  const rows = await store.audit.read({ first: 'oldest', limit: 100 })
  assert.ok(rows !== 'unknownRow')
  return rows
    .filter(({ action }) => action.startsWith('hold.'))
    .map(({ actor, action, tenant, target, detail }) => [actor, action, tenant, target, detail])
}

const one = { kind: 'event', eventId: uuid('one') } as const

export function holdingContract(factory: StoreFactory): void {
  describe('a hold', () => {
    it('keeps a subject and each of its events from being erased, and nothing else (D17)', async () => {
      const { store, time } = await contactsHeld(factory)
      await using _ = store
      const { holdId } = await contactHold(store)
      const onHold = { kind: 'onHold', holdId, untilMs }
      const before = await list(store, { key: contacts })
      for (const target of [subject('c'), one]) {
        assert.deepEqual(await store.erasures.begin(erasureOf(target, { key: contacts })), onHold)
        assert.deepEqual(await store.erasures.count(contacts, target), onHold)
      }
      assert.deepEqual(await list(store, { key: contacts }), before, 'nothing was closed')
      assert.deepEqual(await store.holds.active(contacts, uuid('c')), onHold)
      assert.equal(await store.holds.active(contacts, uuid('d')), undefined)
      assert.equal(await store.holds.active(feedKey(tenantB, 'contact'), uuid('c')), undefined)
      await publish(store, [draft({ subject: 'c', text: 'three' })], { key: contacts })
      await erase(store, subject('d'), { key: contacts })
      // Until its last millisecond, and no longer.
      time.set('2026-03-31T23:59:59.999Z')
      assert.deepEqual(await store.erasures.count(contacts, subject('c')), onHold)
      time.set('2026-04-01T00:00:00Z')
      assert.equal(await store.holds.active(contacts, uuid('c')), undefined)
      assert.deepEqual(await store.erasures.count(contacts, one), { kind: 'counted', events: 1 })
      assert.equal((await erase(store, subject('c'), { key: contacts })).state, 'unreachable')
    })

    it('is named first if a tenant is moving as well, and last if there is nothing to erase', async () => {
      const { store } = await contactsHeld(factory)
      await using _ = store
      const { holdId } = await contactHold(store)
      const latest = (await list(store, { key: contacts })).at(-1)?.id ?? ''
      const begun = (target: Parameters<typeof erasureOf>[0]) =>
        store.erasures.begin(erasureOf(target, { key: contacts }))
      assert.deepEqual(await begun({ kind: 'event', eventId: latest }), { kind: 'eventIsLatest' })
      assert.deepEqual(await begun(subject('nobody')), { kind: 'unknownTarget' })
      await store.moves.change(tenantA, 'open', 'leaving', 'cli:test')
      assert.deepEqual(await begun(subject('c')), { kind: 'onHold', holdId, untilMs })
      assert.deepEqual(await begun(one), { kind: 'onHold', holdId, untilMs })
    })

    it('is not one of several: each keeps the subject, the one that lasts longest is named (D17)', async () => {
      const { store } = await contactsHeld(factory)
      await using _ = store
      const short = await contactHold(store)
      const long = await contactHold(store, 'c', { untilMs: untilMs + 1 })
      const active = async () => (await store.holds.active(contacts, uuid('c')))?.holdId
      assert.equal(await active(), long.holdId)
      await store.holds.end(tenantA, long.holdId, 'key:other')
      assert.equal(await active(), short.holdId)
      await store.holds.end(tenantA, short.holdId, 'key:other')
      assert.equal(await active(), undefined)
      await begin(store, subject('c'), { key: contacts })
    })

    it('does not stop an erasure that has begun', async () => {
      const { store } = await contactsHeld(factory)
      await using _ = store
      const { erasureId } = await begin(store, subject('c'), { key: contacts })
      await contactHold(store)
      assert.equal(await reduceAll(store, erasureId, 1), 2)
    })

    it('is kept, ended once, found by its tenant alone, and on record in the same commit', async () => {
      const { store, time } = await contactsHeld(factory)
      await using _ = store
      const request = holdOn('c', { key: contacts, holdId: uuidV7(1), untilMs })
      const added = await store.holds.add(request)
      assert.deepEqual(await store.holds.add({ ...request, ground: 'complaint' }), added)
      assert.ok(added.kind === 'added')
      const addedMs = Date.parse('2026-03-01T10:00:00Z')
      const standing = { ...request, addedMs, reportedMs: undefined, endedMs: undefined, endedBy: undefined }
      assert.deepEqual(added.hold, standing)
      const second = await hold(store, 'd', { key: contacts, holdId: uuidV7(2), caseRef: undefined, untilMs })
      assert.deepEqual(await store.holds.list(tenantA, undefined, 10), [standing, second])
      assert.deepEqual(await store.holds.list(tenantA, request.holdId, 10), [second])
      assert.deepEqual(await store.holds.list(tenantA, undefined, 1), [standing])
      assert.deepEqual(await store.holds.list(tenantB, undefined, 10), [])
      assert.deepEqual(await store.holds.find(tenantA, second.holdId), second)
      assert.equal(await store.holds.find(tenantB, second.holdId), undefined)
      const unknown = { kind: 'unknownHold' }
      assert.deepEqual(await store.holds.end(tenantB, second.holdId, 'key:k'), unknown)
      assert.deepEqual(await store.holds.end(tenantA, uuid('none'), 'key:k'), unknown)
      time.set('2026-03-02T10:00:00Z')
      const ended = await store.holds.end(tenantA, request.holdId, 'key:other')
      const endedMs = Date.parse('2026-03-02T10:00:00Z')
      const endedHold = { ...standing, endedMs, endedBy: 'key:other' }
      assert.deepEqual(ended, { kind: 'ended', hold: endedHold })
      time.set('2026-03-03T10:00:00Z')
      assert.deepEqual(await store.holds.end(tenantA, request.holdId, 'key:k'), ended)
      assert.deepEqual(await store.holds.find(tenantA, request.holdId), endedHold)
      const detail = { feed: 'contact', ground: 'legal_claim', untilMs }
      assert.deepEqual(await auditOf(store), [
        ['key:k', 'hold.added', tenantA, request.holdId, detail],
        ['key:k', 'hold.added', tenantA, second.holdId, detail],
        ['key:other', 'hold.ended', tenantA, request.holdId, {}],
      ])
    })

    it('is refused if there is nothing to protect, and if it would not move with its tenant', async () => {
      const { store } = await contactsHeld(factory)
      await using _ = store
      const added = async (name: string, key: FeedKey) => store.holds.add(holdOn(name, { key }))
      assert.deepEqual(await added('nobody', contacts), { kind: 'unknownTarget' })
      assert.deepEqual(await added('c', feedKey(tenantA)), { kind: 'unknownTarget' })
      assert.deepEqual(await added('c', feedKey(uuid('nobody'), 'contact')), { kind: 'unknownFeed' })
      await store.moves.change(tenantA, 'open', 'leaving', 'cli:test')
      assert.deepEqual(await added('c', contacts), { kind: 'tenantMoving' })
      assert.deepEqual(await auditOf(store), [])
    })

    it('that has expired is reported once, and then only kept; one that was ended is not reported', async () => {
      const { store, time } = await contactsHeld(factory)
      await using _ = store
      const expiring = await contactHold(store)
      const ended = await contactHold(store)
      await contactHold(store, 'd', { untilMs: untilMs + 10 })
      await store.holds.end(tenantA, ended.holdId, 'key:k')
      time.set('2026-03-31T23:59:59.999Z')
      assert.deepEqual(await store.holds.reportExpired(), [])
      time.set('2026-04-01T00:00:00Z')
      const told = { ...expiring, reportedMs: untilMs }
      const both = await Promise.all([store.holds.reportExpired(), store.holds.reportExpired()])
      assert.deepEqual(both.flat(), [told])
      assert.deepEqual(await store.holds.reportExpired(), [])
      assert.deepEqual(await store.holds.find(tenantA, expiring.holdId), told)
      assert.deepEqual((await auditOf(store)).at(-1), [
        'service',
        'hold.expired',
        tenantA,
        expiring.holdId,
        {},
      ])
      const answer = await store.holds.end(tenantA, expiring.holdId, 'key:k')
      assert.deepEqual(answer, { kind: 'ended', hold: { ...told, endedMs: untilMs, endedBy: 'key:k' } })
    })

    it('cannot be ended in a store that its tenant is leaving: the other one would still protect the subject (D17)', async () => {
      const { store } = await contactsHeld(factory)
      await using _ = store
      const [standing, before] = [await contactHold(store), await contactHold(store, 'd')]
      const ended = await store.holds.end(tenantA, before.holdId, 'key:k')
      for (const [from, to] of [
        ['open', 'leaving'],
        ['leaving', 'left'],
      ] as const) {
        await store.moves.change(tenantA, from, to, 'cli:test')
        assert.deepEqual(await store.holds.end(tenantA, standing.holdId, 'key:k'), { kind: 'tenantMoving' })
        // Asked again, because the first answer was lost.
        assert.deepEqual(await store.holds.end(tenantA, before.holdId, 'key:k'), ended)
      }
      assert.deepEqual(await store.holds.find(tenantA, standing.holdId), standing)
      assert.equal((await auditOf(store)).length, 3)
    })

    it('goes along with a copy, a move and a backup of its store', async () => {
      const { store } = await contactsHeld(factory)
      await using _ = store
      const kept = await hold(store, 'c', { key: contacts })
      const { holdId } = await contactHold(store, 'd')
      await using copy = await withTenants(await factory.create())
      await using target = await withTenants(await factory.create())
      await target.moves.change(tenantA, 'open', 'arriving one run', 'cli:test')
      await transfer(store, copy)
      await moveRound(store, target)
      // What has changed since goes along the next time.
      await store.holds.end(tenantA, holdId, 'key:k')
      await transfer(store, copy)
      await moveRound(store, target)
      await using backup = await factory.copy(store)
      const all = await store.holds.list(tenantA, undefined, 10)
      for (const other of [copy, target, backup]) {
        assert.deepEqual(await other.holds.list(tenantA, undefined, 10), all)
      }
      const refused = await backup.erasures.count(contacts, subject('c'))
      assert.equal(refused.kind === 'onHold' ? refused.holdId : refused.kind, kept.holdId)
    })
  })
}
