import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { branchViewName } from '../../../src/events/branches/branch-view.ts'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { FeedView } from '../../../src/events/branches/branch-view.ts'
import type { LiveQuery, LiveSubject } from '../../../src/events/live-subjects.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { grantBranches } from '../support/branch-views.ts'
import { draft, feedKey, removal, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { publishMixture } from './reading.ts'

const least = '00000000-0000-0000-0000-000000000000'
const most = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

type Shown = Omit<LiveSubject, 'position'>

/** Step by step. */
async function live(store: StorageEngine, changes: Partial<LiveQuery> = {}): Promise<readonly Shown[]> {
  const query = {
    key: feedKey(tenantA),
    view: 'all',
    first: least,
    last: most,
    limit: 1_000,
    ...changes,
  } as const
  const found: Shown[] = []
  for (let after: string | undefined; ;) {
    const { subjects, next } = await store.events.liveSubjects({ ...query, after })
    assert.ok(subjects.length <= query.limit)
    found.push(...subjects.map(({ subjectId, sequenceNumber }) => ({ subjectId, sequenceNumber })))
    if (next === undefined) return found
    assert.ok(next > (after ?? ''))
    after = next
  }
}

/** The fold of the whole feed: of each subject the last event, unless that removes it. */
async function folded(store: StorageEngine, key: FeedKey, view: FeedView): Promise<readonly Shown[]> {
  const last = new Map<string, { readonly number: number; readonly code: string }>()
  for (const { transactionId, sequenceNumber, eventTypeShortCode } of await list(store, { key })) {
    last.set(transactionId.toLowerCase(), { number: sequenceNumber, code: eventTypeShortCode })
  }
  const inView = new Set((await list(store, { key, view })).map(({ sequenceNumber }) => sequenceNumber))
  return [...last]
    .filter(([, { number, code }]) => !/Unpublished|Erased/.test(code) && inView.has(number))
    .map(([subjectId, { number }]) => ({ subjectId, sequenceNumber: number }))
    .toSorted((a, b) => (a.subjectId < b.subjectId ? -1 : 1))
}

export function liveSubjectsContract(factory: StoreFactory): void {
  describe('live subjects', () => {
    it('are those whose last event does not remove them, by reference, in every view and epoch (PROTOCOL §14)', async () => {
      await using store = await withTenants(await factory.create())
      const key = feedKey(tenantA)
      await publishMixture(store, 120)
      for (const epoch of [1, 2]) {
        for (const view of ['all', 'sales', 'lettings'] as const) {
          const expected = await folded(store, key, view)
          assert.ok(expected.length > 3, view)
          for (const limit of [5, 1_000]) {
            assert.deepEqual(
              await live(store, { view, limit }),
              expected,
              `${view} by ${limit} in epoch ${epoch}`,
            )
          }
          const [first, last] = [expected[1]?.subjectId ?? '', expected.at(-2)?.subjectId ?? '']
          assert.deepEqual(await live(store, { view, first, last, limit: 2 }), expected.slice(1, -1))
        }
        // Numbers go on after a gap.
        await store.startEpoch(10_000, 'cli:test')
        await publish(store, [
          draft({ subject: 'mixed 1', text: 'later' }),
          draft({ subject: 'mixed 2', published: false }),
          draft({ subject: 'later' }),
        ])
      }
    })

    it('of a set of branches are those whose last event is of one of them, in every category (D11, PROTOCOL §14)', async () => {
      await using store = await withTenants(await factory.create())
      const key = feedKey(tenantA)
      const branches = ['Hill St', 'Dale', 'Moor']
      const categories = ['sales', 'lettings'] as const
      const publishSome = async (from: number, through: number): Promise<void> => {
        for (let n = from; n < through; n += 1) {
          const mixed = Math.imul(n, 0x9e3779b1) >>> 0
          const branch = branches[(mixed >>> 8) % 4]
          const words = {
            subject: `${(mixed >>> 16) % 23}`,
            text: `${n}`,
            ...(branch === undefined ? {} : { branch }),
          }
          const category = categories[(mixed >>> 12) % 2] ?? 'sales'
          await publish(store, [draft({ ...words, category, published: n % 11 !== 0 })])
        }
      }
      await publishSome(1, 45)
      const sets = [['Hill St'], ['Hill St', 'Dale'], ['Moor', 'nowhere']]
      for (const set of sets) await grantBranches(store, set)
      for (const through of [45, 90]) {
        await publishSome(through, through + 45)
        for (const set of sets) {
          for (const name of ['all', 'sales', 'lettings'] as const) {
            const view = branchViewName(set, name)
            const expected = await folded(store, key, view)
            assert.ok(expected.length > 0, view)
            for (const limit of [3, 1_000]) {
              assert.deepEqual(await live(store, { view, limit }), expected, `${set.join()} ${name}`)
            }
          }
        }
      }
    })

    it('look at a limited number of subjects per step, however few of them are shown (P5)', async () => {
      await using store = await withTenants(await factory.create())
      const subjects = Array.from({ length: 12 }, (_, n) => `${n}`)
      await publish(
        store,
        subjects.map((subject) => draft({ subject })),
      )
      await publish(
        store,
        subjects.map((subject) => removal({ subject })),
      )
      const query = { key: feedKey(), view: 'all', first: least, last: most, after: undefined } as const
      const { subjects: none, next } = await store.events.liveSubjects({ ...query, limit: 5 })
      assert.deepEqual([none, next], [[], subjects.map(uuid).toSorted()[4]])
    })

    it('are those of one feed and tenant alone (P10)', async () => {
      await using store = await withTenants(await factory.create())
      const contacts = feedKey(tenantA, 'contact')
      await publish(store, [draft({ subject: 'c' }), draft({ subject: 'd' })], { key: contacts })
      await publish(store, [draft({ subject: 'c', type: 'ContactErased' })], { key: contacts })
      await publish(store, [draft({ subject: 'other' })], { key: feedKey(tenantB) })
      assert.deepEqual(await live(store, { key: contacts }), [{ subjectId: uuid('d'), sequenceNumber: 2 }])
      assert.deepEqual(await live(store), [])
      assert.deepEqual(await live(store, { key: feedKey(uuid('nobody')) }), [])
    })
  })
}
