import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { StorageFailure } from '../../../src/sql/storage-errors.ts'
import { branchViewName } from '../../../src/events/branches/branch-view.ts'
import type { FeedView } from '../../../src/events/branches/branch-view.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import {
  actor,
  assertViews,
  grantBranches,
  keyOfBranches,
  recordsOf,
  stateOf,
  stepAll,
} from '../support/branch-views.ts'
import { draft, feedKey, removal, tenantA, tenantB, uuid } from '../support/drafts.ts'
import type { DraftWords } from '../support/drafts.ts'
import { erase, subject } from '../support/erasing.ts'
import { list, located, numbers, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock, ticks } from '../support/test-clock.ts'
import { transfer } from './transferring.ts'

const hill = 'Hill St'
const dale = 'Dale "Rd", Zürich 東'
const moor = 'moor'
/** In a view, with none in common, and of a branch that is not there. */
const sets = [[hill], [hill, dale], [moor, 'nowhere']] as const

function beingMade(error: unknown): boolean {
  return error instanceof StorageFailure && error.code === 'view_being_made'
}

async function grantAll(store: StorageEngine, limit?: number): Promise<void> {
  for (const branches of sets) await grantBranches(store, branches, limit === undefined ? {} : { limit })
}

async function assertAll(store: StorageEngine): Promise<void> {
  for (const branches of sets) await assertViews(store, branches)
}

/** Categories and branches, without a branch, moved between branches and categories, removed, unpublished and back. */
const history: readonly (DraftWords & { readonly removed?: true })[] = [
  { subject: 'a', branch: hill, category: 'sales' },
  { subject: 'b', branch: dale, category: 'lettings' },
  { subject: 'c', branch: moor, category: 'sales' },
  { subject: 'd', category: 'sales' },
  { subject: 'e', branch: 'elsewhere', category: 'lettings' },
  { subject: 'a', branch: dale, category: 'sales' },
  { subject: 'b', branch: dale, category: 'sales' },
  { subject: 'c', branch: moor, category: 'sales', removed: true },
  { subject: 'd', branch: hill },
  { subject: 'e', branch: hill, category: 'sales' },
  { subject: 'a', branch: moor, category: 'lettings' },
  { subject: 'b', branch: hill, published: false },
  { subject: 'c', branch: hill, category: 'lettings' },
  { subject: 'd' },
  { subject: 'e', removed: true },
  { subject: 'f', branch: hill, published: false },
  { subject: 'f', branch: dale },
]

async function play(store: StorageEngine, words = history): Promise<void> {
  for (const [index, { removed, ...one }] of words.entries()) {
    await publish(store, [removed === true ? removal(one) : draft({ text: `${index}`, ...one })])
  }
}

/** Events that are published, steps of so many events, or what is done with keys. */
type FillingStep = readonly DraftWords[] | number | 'grant' | 'revoke'

function fillingStep(): fc.Arbitrary<FillingStep> {
  const event = fc.record(
    {
      subject: fc.constantFrom('p', 'q', 'r', 's'),
      branch: fc.constantFrom(hill, dale, moor),
      category: fc.constantFrom('sales' as const, 'lettings' as const),
      published: fc.constantFrom(true, true, true, false),
    },
    { requiredKeys: ['subject'] },
  )
  return fc.oneof(
    { weight: 3, arbitrary: fc.array(event, { minLength: 1, maxLength: 4 }) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 6 }) },
    { weight: 1, arbitrary: fc.constantFrom('grant' as const, 'revoke' as const) },
  )
}

export function branchViewsContract(factory: StoreFactory): void {
  describe('views of branches', () => {
    it('hold the events of their branches, by category, departures included, whether filled or published to (D11, D23)', async () => {
      await using filled = await withTenants(await factory.create())
      await play(filled)
      await grantAll(filled, 4)
      await assertAll(filled)
      await using entered = await withTenants(await factory.create())
      await grantAll(entered)
      await play(entered)
      await assertAll(entered)
      for (const branches of sets) {
        for (const name of ['all', 'sales', 'lettings'] as const) {
          const view = branchViewName(branches, name)
          assert.deepEqual(numbers(await list(entered, { view })), numbers(await list(filled, { view })))
        }
      }
      // The one that moves on: there, then gone from the first branch, and there in the second.
      const codesOf = async (branches: readonly string[]) =>
        (await list(entered, { view: branchViewName(branches, 'all') }))
          .filter(({ transactionId }) => transactionId === uuid('a'))
          .map(({ eventTypeShortCode }) => eventTypeShortCode)
      assert.deepEqual(await codesOf([hill]), ['PropertyPublished', 'PropertyUnpublished'])
      assert.deepEqual(await codesOf([moor, 'nowhere']), ['PropertyPublished'])
    })

    it('receive batches of many events, and of several tenants at once (D11, P1)', async () => {
      await using store = await withTenants(await factory.create())
      await grantAll(store)
      await grantBranches(store, [hill], { tenantId: tenantB })
      const drafts = Array.from({ length: 60 }, (_, n) => {
        const branch = [hill, dale, moor, undefined][n % 4]
        return draft({ subject: `${n % 13}`, text: `${n}`, ...(branch === undefined ? {} : { branch }) })
      })
      const other = { key: feedKey(tenantB) }
      const batches = [0, 20, 40].map((from) => drafts.slice(from, from + 20))
      await Promise.all([...batches.map((some) => publish(store, some)), publish(store, drafts, other)])
      await assertAll(store)
      await assertViews(store, [hill], feedKey(tenantB))
    })

    it('show the end of what they showed: after an erasure, a removal, and with payloads that were removed by age (D11, D17)', async () => {
      const { clock, set } = testClock('2025-01-01T12:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      await grantAll(store)
      await play(store)
      await publish(store, [
        draft({ subject: 'g', branch: hill }),
        draft({ subject: 'g', branch: hill, text: '2' }),
      ])
      const records = await recordsOf(store)
      await erase(store, subject('g'))
      await erase(store, { kind: 'event', eventId: records[0]?.id ?? '' })
      set('2025-03-01T12:00:00')
      await publish(store, [removal({ subject: 'f' })])
      const before = ticks('2025-03-01')
      for (let outcome = 'thinned'; outcome === 'thinned';) {
        const span = { key: feedKey(), before: before - 1n, supersededBefore: before }
        outcome = (await store.retention.thin(span, 100, 'this node')).kind
      }
      await assertAll(store)
      const [closing, ...others] = (await list(store, { view: branchViewName([hill], 'all') }))
        .filter(({ transactionId }) => transactionId === uuid('g'))
        .toReversed()
      assert.equal(closing?.eventTypeShortCode, 'PropertyUnpublished')
      assert.equal(others.length, 2)
      const after = await recordsOf(store)
      assert.deepEqual(
        after.slice(0, records.length).map(({ branch }) => branch),
        records.map(({ branch }) => branch),
      )
    })

    it('are filled while properties are published and moved between branches, without a hole or a double (D11, P4)', async () => {
      await using store = await withTenants(await factory.create())
      let runs = 0
      const granted = [hill, dale]
      const playAll = async (steps: readonly FillingStep[]): Promise<void> => {
        runs += 1
        const tenantId = uuid(`run ${runs}`)
        const key = feedKey(tenantId)
        await store.tenants.createTenant({ tenantId, name: tenantId, createdMs: 0, suspended: false }, actor)
        const view = branchViewName(granted, 'all')
        const grants: string[] = []
        for (const [index, one] of steps.entries()) {
          if (one === 'grant') {
            grants.push(`${tenantId} ${index}`)
            await store.keys.insertKey(keyOfBranches(grants.at(-1) ?? '', granted, { tenantId }), actor)
          } else if (one === 'revoke') {
            for (const keyId of grants.splice(0)) await store.keys.revokeKey(keyId, 1, actor)
          } else if (typeof one === 'number') {
            for (const due of await store.branchViews.due()) await store.branchViews.step(due, one)
          } else {
            const drafts = one.map((words, nth) => draft({ ...words, text: `${index} ${nth}` }))
            await publish(store, drafts, { key })
          }
          const state = await stateOf(store, granted, tenantId)
          if (state === 'ready') await assertViews(store, granted, key)
          else await assert.rejects(store.events.locate({ key, view }), beingMade)
        }
        await grantBranches(store, granted, { tenantId, limit: 3 })
        await assertViews(store, granted, key)
      }
      await fc.assert(fc.asyncProperty(fc.array(fillingStep(), { maxLength: 10 }), playAll), {
        numRuns: process.env['PROPERTY_EVENTS_TEST_LONG'] === undefined ? 8 : 200,
      })
    })

    it('are filled by two nodes at once as by one (D11)', async () => {
      await using store = await withTenants(await factory.create())
      await play(store)
      await store.keys.insertKey(keyOfBranches('k', [hill, dale]), actor)
      const both = await Promise.all([store.branchViews.due(), store.branchViews.due()])
      assert.deepEqual(both[0], both[1])
      for (const set of both[0]) {
        for (let outcomes = ['more']; outcomes.includes('more');) {
          const asked = [1, 2, 3].map(() => store.branchViews.step(set, 3))
          outcomes = await Promise.all([
            ...asked,
            publish(store, [draft({ subject: 'z', branch: dale })]).then(() => ''),
          ])
        }
      }
      assert.deepEqual(await store.branchViews.due(), [])
      await assertViews(store, [hill, dale])
    })

    it('are not read before they are ready, and a key says which it has to wait for (PROTOCOL §7)', async () => {
      await using store = await withTenants(await factory.create())
      await play(store)
      const scopes = ['property:publish'] as const
      const grants = [
        { tenantId: tenantA, scopes: ['property:read'] as const, branches: [hill] },
        { tenantId: tenantB, scopes, branches: [hill] },
      ]
      await store.keys.insertKey(keyOfBranches('k', [], { grants }), actor)
      const waiting = async () => (await store.keys.findKey('k'))?.viewsBeingMade
      assert.deepEqual(await waiting(), [tenantA])
      const view: FeedView = branchViewName([hill], 'all')
      const [set, ...others] = await store.branchViews.due()
      assert.ok(set)
      assert.deepEqual(others, [], 'publishing needs no view')
      const versions = [await store.keys.keysVersion()]
      while ((await store.branchViews.step(set, 5)) === 'more') {
        assert.deepEqual(await waiting(), [tenantA])
        await assert.rejects(store.events.locate({ key: feedKey(), view }), beingMade)
        assert.equal(await stateOf(store, [hill]), 'filling')
      }
      assert.equal(await waiting(), undefined)
      assert.notEqual(await store.keys.keysVersion(), versions[0])
      await assertViews(store, [hill])
      await assert.rejects(store.events.locate({ key: feedKey(tenantB), view }), beingMade)
      const contacts = feedKey(tenantA, 'contact')
      await assert.rejects(
        store.events.locate({ key: contacts, view }),
        beingMade,
        'contacts have no branches',
      )
    })

    it('are removed when no usable key is limited to their branches any more, and are as before when one is again (D11)', async () => {
      const { clock, set } = testClock('2025-01-01T12:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      await play(store)
      await grantBranches(store, [dale])
      const expiresMs = Date.UTC(2025, 0, 2)
      const keys = [keyOfBranches('one', [hill]), keyOfBranches('two', [hill], { expiresMs })]
      for (const key of keys) await store.keys.insertKey(key, actor)
      await stepAll(store)
      const view = branchViewName([hill], 'all')
      const before = await list(store, { view })
      assert.ok(before.length > 3)
      await store.keys.revokeKey('one', 1, actor)
      assert.deepEqual(await store.branchViews.due(), [], 'another key has them')
      set('2025-01-02T12:00:00')
      const [due] = await store.branchViews.due()
      assert.ok(due)
      assert.equal(await store.branchViews.step(due, 2), 'more')
      assert.equal(await stateOf(store, [hill]), 'dropping')
      await publish(store, [draft({ subject: 'n', branch: hill })])
      assert.ok((await stepAll(store, 2)) > 3)
      assert.equal(await stateOf(store, [hill]), undefined)
      await assert.rejects(located(store, { view }), beingMade)
      await publish(store, [draft({ subject: 'm', branch: hill })])
      await assertViews(store, [dale])
      assert.deepEqual(await store.branchViews.due(), [])
      await grantBranches(store, [hill])
      await assertViews(store, [hill])
      assert.deepEqual((await list(store, { view })).slice(0, before.length), before)
    })

    it('are made once more if a key is given the branches while their views are removed (D11)', async () => {
      await using store = await withTenants(await factory.create())
      await play(store)
      await grantBranches(store, [hill])
      await store.keys.insertKey(keyOfBranches('k', [dale, hill]), actor)
      await stepAll(store)
      await store.keys.revokeKey('k', 1, actor)
      for (let steps = 0; steps < 3; steps += 1) {
        for (const set of await store.branchViews.due()) await store.branchViews.step(set, 2)
      }
      assert.equal(await stateOf(store, [hill, dale]), 'dropping')
      await store.keys.insertKey(keyOfBranches('again', [hill, dale]), actor)
      assert.deepEqual((await store.keys.findKey('again'))?.viewsBeingMade, [tenantA])
      await stepAll(store, 2)
      assert.equal(await stateOf(store, [hill, dale]), 'ready')
      await assertViews(store, [hill, dale])
    })

    it('are entered by what comes from another store, and filled with what had come before (D11, P9)', async () => {
      await using from = await withTenants(await factory.create())
      await play(from, history.slice(0, 9))
      await erase(from, subject('a'))
      await using to = await withTenants(await factory.create())
      await grantBranches(to, [hill, dale])
      await transfer(from, to)
      await assertViews(to, [hill, dale])
      await play(from, history.slice(9))
      await transfer(from, to)
      await grantAll(to)
      await assertAll(to)
      assert.deepEqual(
        (await recordsOf(to)).map(({ branch }) => branch),
        (await recordsOf(from)).map(({ branch }) => branch),
      )
    })

    it('are part of a backup in their present state, and continue there (P9)', async () => {
      await using store = await withTenants(await factory.create())
      await play(store)
      await grantBranches(store, [hill])
      await store.keys.insertKey(keyOfBranches('k', [hill, dale]), actor)
      const [set] = await store.branchViews.due()
      assert.ok(set)
      await store.branchViews.step(set, 5)
      await using copy = await factory.copy(store)
      await assertViews(copy, [hill])
      assert.equal(await stateOf(copy, [hill, dale]), 'filling')
      await copy.startEpoch(100, actor)
      await play(copy)
      await stepAll(copy)
      await assertAll(await withMoor(copy))
    })
  })
}

async function withMoor(store: StorageEngine): Promise<StorageEngine> {
  await grantBranches(store, sets[2])
  return store
}
