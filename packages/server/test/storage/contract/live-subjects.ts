import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ViewName } from '@property-events/protocol'
import type { FeedKey, LiveQuery, LiveSubject, StorageEngine } from '../../../src/storage/storage.ts'
import { draft, feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { publishMixture } from './reading.ts'

const least = '00000000-0000-0000-0000-000000000000'
const most = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Step by step. */
async function live(store: StorageEngine, changes: Partial<LiveQuery> = {}): Promise<readonly LiveSubject[]> {
  const query = {
    key: feedKey(tenantA),
    view: 'all',
    first: least,
    last: most,
    limit: 1_000,
    ...changes,
  } as const
  const found: LiveSubject[] = []
  for (;;) {
    const after = found.at(-1)?.subjectId
    const step = await store.events.liveSubjects({ ...query, after })
    found.push(...step)
    if (step.length < query.limit) return found
  }
}

/** The fold of the whole feed: of each subject the last event, unless that removes it. */
async function folded(store: StorageEngine, key: FeedKey, view: ViewName): Promise<readonly LiveSubject[]> {
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
