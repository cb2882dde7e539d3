import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { draft, feedKey, removal, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { list, numbers, parseEvent, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { publishMixture } from './reading.ts'

export function readSubjectContract(factory: StoreFactory): void {
  describe('reading one subject', () => {
    it("gives each subject's events, ascending, in steps of any size, with the bytes of the list (P9)", async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 60)
      const all = await list(store)
      const subjects = new Set(all.map(({ transactionId }) => transactionId))
      assert.ok(subjects.size > 3)
      for (const subjectId of subjects) {
        const expected = all.filter(({ transactionId }) => transactionId === subjectId)
        for (const limit of [1, 3, 1000]) {
          const found = []
          for (let after = 0; ; after = found.at(-1)?.sequenceNumber ?? after) {
            const events = await store.events.readSubject({ key: feedKey(), subjectId, after, limit })
            assert.ok(events.length <= limit)
            found.push(...events)
            if (events.length < limit) break
          }
          assert.deepEqual(
            found.map(({ json }) => parseEvent(json)),
            expected,
          )
          assert.deepEqual(numbers(found), numbers(expected))
        }
        const latest = await store.events.readLatest(feedKey(), subjectId)
        assert.ok(latest)
        assert.deepEqual(parseEvent(latest.json), expected.at(-1))
        assert.equal(latest.sequenceNumber, expected.at(-1)?.sequenceNumber)
      }
    })

    it('follows a subject through categories, removal and a new epoch (D13, D23, D26)', async () => {
      await using store = await withTenants(await factory.create())
      const subjectId = uuid('mover')
      await publish(store, [draft({ subject: 'mover', category: 'sales' }), draft({ subject: 'other' })])
      await publish(store, [draft({ subject: 'mover', category: 'lettings', text: 'now to let' })])
      await store.startEpoch(100, 'cli:test')
      await publish(store, [removal({ subject: 'mover' }, 'withdrawn')])
      const history = async (after: number) =>
        numbers(await store.events.readSubject({ key: feedKey(), subjectId, after, limit: 10 }))
      // 3 is the derived removal from sales.
      assert.deepEqual(await history(0), [1, 3, 4, 101])
      assert.deepEqual(await history(3), [4, 101])
      assert.deepEqual(await history(50), [101])
      assert.deepEqual(await history(101), [])
      assert.equal((await store.events.readLatest(feedKey(), subjectId))?.sequenceNumber, 101)
      const upTo = async (number: number) =>
        (await store.events.readLatest(feedKey(), subjectId, undefined, number))?.sequenceNumber
      const numbersUpTo = [0, 1, 2, 3, 50, 100, 101, 10 ** 12]
      assert.deepEqual(await Promise.all(numbersUpTo.map(upTo)), [undefined, 1, 1, 3, 4, 4, 101, 101])
    })

    it('finds no subject without events, nor those of other feeds and tenants (P10)', async () => {
      await using store = await withTenants(await factory.create())
      const subjectId = uuid('mine')
      await publish(store, [draft({ subject: 'mine' })])
      const strangers = [
        { key: feedKey(), subjectId: uuid('nothing') },
        { key: feedKey(tenantA, 'contact'), subjectId },
        { key: feedKey(tenantB), subjectId },
        { key: feedKey(uuid('nobody')), subjectId },
      ]
      for (const query of strangers) {
        assert.deepEqual(await store.events.readSubject({ ...query, after: 0, limit: 10 }), [])
        assert.equal(await store.events.readLatest(query.key, query.subjectId), undefined)
      }
      assert.equal(
        (await store.events.readSubject({ key: feedKey(), subjectId, after: 0, limit: 10 })).length,
        1,
      )
    })
  })
}
