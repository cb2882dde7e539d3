import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { numbersPerBlock, runSilenceMs } from '../../../src/privacy/disclosure/disclosure.ts'
import type {
  NumberRange,
  DisclosurePiece,
  PiecesOfKeyQuery,
} from '../../../src/privacy/disclosure/disclosure.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { draft, feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const contacts = feedKey(tenantA, 'contact')

function piece(ranges: readonly NumberRange[], changes: Partial<DisclosurePiece> = {}): DisclosurePiece {
  return { key: contacts, keyId: 'key', view: 'all', hour: 480_000, block: 0, ranges, ...changes }
}

async function sentTo(
  store: StorageEngine,
  changes: Partial<PiecesOfKeyQuery> = {},
): Promise<readonly DisclosurePiece[]> {
  return store.ledger.sent({ keyId: 'key', fromHour: 0, toHour: 1_000_000, limit: 100, ...changes })
}

export function ledgerContract(factory: StoreFactory): void {
  describe('what was sent', () => {
    it('joins ranges that touch, overlap or repeat, whichever nodes add them at the same time (D28)', async () => {
      await using store = await withTenants(await factory.create())
      await store.ledger.add([
        piece([
          [1, 5],
          [9, 9],
        ]),
      ])
      await Promise.all([
        store.ledger.add([piece([[6, 7]])]),
        store.ledger.add([piece([[20, 30]])]),
        store.ledger.add([piece([[25, 40]])]),
        store.ledger.add([piece([[2, 3]])]),
        store.ledger.add([piece([[1, 2]], { view: 'numbers' })]),
      ])
      assert.deepEqual(await sentTo(store), [
        piece([
          [1, 7],
          [9, 9],
          [20, 40],
        ]),
        piece([[1, 2]], { view: 'numbers' }),
      ])
      await store.ledger.add([])
      assert.deepEqual(await sentTo(store, { keyId: 'other' }), [])
    })

    it('keeps keys, tenants, feeds, hours and blocks apart, and hands them over piece by piece (D28)', async () => {
      await using store = await withTenants(await factory.create())
      const pieces = [tenantA, tenantB].flatMap((tenantId) =>
        (['contact', 'property'] as const).flatMap((feed) =>
          [480_000, 480_001, 480_007].flatMap((hour) =>
            [0, 3].map((block) => {
              const first = block * numbersPerBlock + 1
              return piece([[first, first + hour - 480_000]], { key: { tenantId, feed }, hour, block })
            }),
          ),
        ),
      )
      await store.ledger.add([...pieces, piece([[1, 1]], { keyId: 'other' })])
      const read: DisclosurePiece[] = []
      for (;;) {
        const next = await sentTo(store, { after: read.at(-1), limit: 5 })
        read.push(...next)
        if (next.length < 5) break
      }
      const name = ({ key, view, hour, block, ranges }: DisclosurePiece) =>
        JSON.stringify([key.tenantId, key.feed, view, hour, block, ranges])
      assert.deepEqual(read.map(name).toSorted(), pieces.map(name).toSorted())
      const within = await sentTo(store, { fromHour: 480_001, toHour: 480_006 })
      assert.deepEqual(new Set(within.map(({ hour }) => hour)), new Set([480_001]))
      assert.equal(within.length, 8)
      assert.equal((await sentTo(store, { keyId: 'other' })).length, 1)
    })

    it('says which runs have not ended, and since when one is silent (D28)', async () => {
      await using store = await factory.create()
      const [one, two] = [uuid('run one'), uuid('run two')]
      await store.ledger.mark({ runId: one, beganMs: 1_000, throughMs: 1_000, ended: false })
      await store.ledger.mark({ runId: two, beganMs: 2_000, throughMs: 2_000, ended: false })
      await store.ledger.mark({ runId: one, beganMs: 1_000, throughMs: 31_000, ended: false })
      const first = { runId: one, beganMs: 1_000, throughMs: 31_000, lostMs: undefined }
      const second = { runId: two, beganMs: 2_000, throughMs: 2_000, lostMs: undefined }
      assert.deepEqual(await store.ledger.openRuns(), [first, second])
      const late = 2_001 + runSilenceMs
      await store.ledger.mark({ runId: one, beganMs: 1_000, throughMs: late, ended: false })
      const found = { ...second, lostMs: late }
      assert.deepEqual(await store.ledger.openRuns(), [{ ...first, throughMs: late }, found])
      await store.ledger.mark({ runId: one, beganMs: 1_000, throughMs: late + 5, ended: true })
      assert.deepEqual(await store.ledger.openRuns(), [found])
      // It had only not reached the store.
      await store.ledger.mark({ runId: two, beganMs: 2_000, throughMs: late + 9, ended: false })
      assert.deepEqual(await store.ledger.openRuns(), [{ ...second, throughMs: late + 9 }])
    })

    it('names the subjects of a range, by position and by number, across epochs (D28)', async () => {
      await using store = await withTenants(await factory.create())
      const drafts = ['a', 'b', 'a'].map((subject, n) => draft({ subject, id: `${n}`, text: `${n}` }))
      await publish(store, drafts, { key: contacts })
      await store.startEpoch(100, 'cli:test')
      await publish(store, [draft({ subject: 'c' })], { key: contacts })
      await publish(store, [draft({ subject: 'of another tenant' })], { key: feedKey(tenantB, 'contact') })
      const subjects = async (view: 'all' | 'numbers', range: NumberRange) =>
        (await store.events.subjectsIn({ key: contacts, view, range })).map(({ number, subjectId }) => [
          number,
          subjectId,
        ])
      const [a, b, c] = ['a', 'b', 'c'].map(uuid)
      assert.deepEqual(await subjects('all', [0, numbersPerBlock - 1]), [
        [1, a],
        [2, b],
        [3, a],
        [4, c],
      ])
      assert.deepEqual(await subjects('all', [2, 3]), [
        [2, b],
        [3, a],
      ])
      assert.deepEqual(await subjects('numbers', [3, 101]), [
        [3, a],
        [101, c],
      ])
      assert.deepEqual(await subjects('numbers', [4, 100]), [])
      assert.deepEqual(await subjects('numbers', [0, 10_000]), [
        [1, a],
        [2, b],
        [3, a],
        [101, c],
      ])
      const nobody = feedKey(uuid('nobody'), 'contact')
      assert.deepEqual(await store.events.subjectsIn({ key: nobody, view: 'all', range: [1, 9] }), [])
    })

    it('goes with a backup (D28)', async () => {
      await using store = await withTenants(await factory.create())
      await store.ledger.add([
        piece([
          [1, 5],
          [9, 12],
        ]),
      ])
      await store.ledger.mark({ runId: uuid('run'), beganMs: 1, throughMs: 2, ended: false })
      await using backup = await factory.copy(store)
      assert.deepEqual(await sentTo(backup), await sentTo(store))
      assert.deepEqual(await backup.ledger.openRuns(), await store.ledger.openRuns())
    })
  })
}
