import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { batch, draft, feedKey, removal, tenantA, tenantB, uuid } from '../support/drafts.ts'
import type { DraftWords } from '../support/drafts.ts'
import { headOf, list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const lower = uuid('p')
const upper = lower.toUpperCase()
/** A spelling of its own: as a publisher gives it that joins parts of two systems. */
const mixed = upper.slice(0, 18) + lower.slice(18)
const other = uuid('a transaction of several properties')

const home = (words: Omit<DraftWords, 'subject'> = {}) => draft({ subject: 'p', ...words })

/** The transaction ids of the feed, in order. */
async function transactions(store: StorageEngine): Promise<readonly string[]> {
  return (await list(store)).map(({ transactionId }) => transactionId)
}

export function spellingContract(factory: StoreFactory): void {
  describe('spelling', () => {
    it('names a subject in all its events as its first event spells it (D15)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [home({ spelling: upper })])
      await publish(store, [home({ text: 'a' })])
      const [, moved] = await publish(store, [home({ spelling: mixed, text: 'b', category: 'lettings' })])
      assert.equal(moved?.transactionId, upper)
      await publish(store, [removal({ subject: 'p' })])
      await publish(store, [home({ text: 'c' })])
      assert.deepEqual(await transactions(store), Array(6).fill(upper))
    })

    it('does so within one batch, and within batches of one commit (D15)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [home({ spelling: mixed }), home({ text: 'a' }), removal({ subject: 'p' })])
      const contact = feedKey(tenantA, 'contact')
      await store.events.append([
        batch([draft({ subject: 'c', spelling: uuid('c').toUpperCase() })], { key: contact }),
        batch([draft({ subject: 'c', text: 'a' })], { key: contact }),
        batch([home({ spelling: upper, text: 'b' })]),
      ])
      assert.deepEqual(await transactions(store), Array(4).fill(mixed))
      const contacts = await list(store, { key: contact })
      assert.deepEqual(
        contacts.map(({ transactionId }) => transactionId),
        Array(2).fill(uuid('c').toUpperCase()),
      )
    })

    it('keeps what is sent, and continues with the spelling of the first event: its transactionId before its payload (D15)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [home({ transactionId: upper }), home({ text: 'a' })])
      await publish(store, [home({ transactionId: other, text: 'b' }), home({ text: 'c' })])
      assert.deepEqual(await transactions(store), [upper, upper, other, upper])
      const elsewhere = { key: feedKey(tenantB) }
      await publish(store, [home({ transactionId: other, spelling: mixed })], elsewhere)
      await publish(store, [home({ text: 'a' })], elsewhere)
      const events = await list(store, elsewhere)
      assert.deepEqual(
        events.map(({ transactionId }) => transactionId),
        [other, mixed],
      )
    })

    it('says so if a transactionId spells the subject differently than the first (D15)', async () => {
      await using store = await withTenants(await factory.create())
      const lines = await publish(store, [
        home({ spelling: upper }),
        home({ transactionId: mixed, text: 'a' }),
        home({ transactionId: upper, text: 'b' }),
        home({ transactionId: other, text: 'c' }),
      ])
      assert.deepEqual(
        lines.map(({ remarks }) => remarks),
        [undefined, ['otherSpelling'], undefined, undefined],
      )
    })

    it('continues in a copy of the store, and in a backup (D15)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [home({ spelling: upper, updateDate: 'monday' })])
      await using backup = await factory.copy(store)
      await backup.startEpoch(10, 'cli:test')
      await using copy = await withTenants(await factory.create())
      await store.exportRecords(
        () => 0,
        (records) => copy.importRecords(records, 'cli:test'),
      )
      for (const again of [store, backup, copy]) {
        const [line] = await publish(again, [home({ updateDate: 'monday', text: 'a' })])
        assert.equal(line?.transactionId, upper)
        assert.deepEqual(line.remarks, ['updateDateUnchanged'])
        assert.equal((await headOf(again)).position, 2)
      }
    })
  })

  describe('the update_date', () => {
    const remarked = async (store: StorageEngine, drafts: Parameters<typeof publish>[1]) =>
      (await publish(store, drafts)).map(({ remarks }) => remarks ?? [])
    const same = ['updateDateUnchanged']

    it('is remarked on when the payload is another one, or the property comes back, and it is the same', async () => {
      await using store = await withTenants(await factory.create())
      const monday = { updateDate: 'monday' }
      assert.deepEqual(
        await remarked(store, [
          home({ ...monday, text: 'a' }),
          home({ ...monday, text: 'a' }),
          home({ ...monday, text: 'b' }),
          home({ updateDate: 'tuesday', text: 'c' }),
          home({ updateDate: 'tuesday', published: false, text: 'c' }),
          home({ updateDate: 'tuesday', text: 'c' }),
          removal({ subject: 'p' }),
        ]),
        [[], [], same, [], [], same, []],
      )
      assert.deepEqual(await remarked(store, [home({ updateDate: 'tuesday', text: 'c' })]), [same])
      assert.deepEqual(await remarked(store, [home({ text: 'd' })]), [[]])
      assert.deepEqual(await remarked(store, [home({ text: 'e' })]), [[]])
      assert.deepEqual(await remarked(store, [home({ ...monday, text: 'f' })]), [[]])
    })

    it('is warned about once, beside the event of its draft, when the property changes its category', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [home({ updateDate: 'monday', category: 'sales' })])
      const moved = home({ id: 'moved', updateDate: 'monday', text: 'a', category: 'lettings' })
      assert.deepEqual(await remarked(store, [moved]), [[], same])
      assert.deepEqual(await remarked(store, [moved]), [[], []], 'a repeat')
    })
  })
}
