import assert from 'node:assert/strict'
import { statSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { batch, draft } from '../support/drafts.ts'
import { headOf, list, numbers, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock, ticks } from '../support/test-clock.ts'
import { publishMixture } from './reading.ts'

export function backupContract(factory: StoreFactory): void {
  describe('backup', () => {
    it('opens as a store with the same events, tenants and settings (P9)', async () => {
      await using store = await withTenants(await factory.create({ startSequence: 7 }))
      await publishMixture(store, 150)
      const path = factory.backupPath()
      await store.backup(path)
      await publishMixture(store, 1)
      await using copy = await factory.openBackup(path)
      assert.deepEqual(copy.settings, store.settings)
      assert.deepEqual(await copy.keys.tenants(), await store.keys.tenants())
      const kept = (await list(store)).slice(0, 150)
      assert.deepEqual(await list(copy), kept)
      assert.equal((await headOf(copy)).epoch, (await headOf(store)).epoch)
    })

    it('keeps every character of a payload, including those that some programs take for the end of a line (P9)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'a', text: 'one\u2028two\u2029three\u0085four\r\n' })])
      const path = factory.backupPath()
      await store.backup(path)
      await using copy = await factory.openBackup(path)
      assert.deepEqual(await list(copy), await list(store))
    })

    it('publishes nothing until a new epoch carries it past numbers it does not hold (D13, P2)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'a' })])
      const path = factory.backupPath()
      await store.backup(path)
      // The store that was copied goes on as before.
      await publish(store, [draft({ subject: 'b' })])
      await using copy = await factory.openBackup(path)
      const asked = batch([draft({ subject: 'c' })])
      assert.deepEqual(await copy.events.append([asked]), [{ kind: 'epochRequired' }])
      assert.deepEqual(await copy.events.preview(asked), { kind: 'epochRequired' })
      assert.deepEqual([await store.epochNeed(), await copy.epochNeed()], ['none', 'all'])
      await copy.startEpoch((await headOf(store)).sequenceNumber, 'cli:test')
      assert.equal(await copy.epochNeed(), 'none')
      await copy.events.append([asked])
      assert.deepEqual(numbers(await list(copy)), [1, 3])
    })

    it('stamps nothing before a window that was answered before it was made, though the clock was set back (P3)', async () => {
      const { clock, set } = testClock('2025-01-31T12:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      await publish(store, [draft({ subject: 'a' })])
      set('2025-01-31T12:00:30')
      const asked = { from: ticks('2025-01-31T12:00:30') }
      assert.deepEqual(await list(store, asked), [])
      const path = factory.backupPath()
      await store.backup(path)
      set('2025-01-31T12:00:10')
      await using copy = await factory.openBackup(path, { clock })
      await copy.startEpoch(1, 'cli:test')
      await publish(copy, [draft({ subject: 'b' })])
      assert.deepEqual(numbers(await list(copy, asked)), [2])
    })

    it('holds a whole prefix of the feed, whatever is published meanwhile (P2, P6)', async () => {
      await using store = await withTenants(await factory.create())
      await publishMixture(store, 200)
      const stop = new AbortController()
      const publishing = (async () => {
        for (let n = 0; !stop.signal.aborted; n += 1) {
          await publish(store, [draft({ subject: 'x', id: `${n} a` }), draft({ subject: 'y', id: `${n} b` })])
          await new Promise((resolve) => setImmediate(resolve))
        }
      })()
      const path = factory.backupPath()
      await store.backup(path)
      stop.abort()
      await publishing
      await using copy = await factory.openBackup(path)
      const kept = await list(copy)
      assert.equal(kept.length % 2, 0, 'no half of a batch')
      assert.deepEqual(kept, (await list(store)).slice(0, kept.length))
    })

    it('never replaces a file, and only its owner can read it', async () => {
      await using store = await withTenants(await factory.create())
      const path = factory.backupPath()
      await store.backup(path)
      assert.equal(statSync(path).mode & 0o777, 0o600)
      const taken = factory.backupPath()
      writeFileSync(taken, 'precious')
      for (const existing of [path, taken]) {
        await assert.rejects(store.backup(existing), { name: 'StorageRefusal', code: 'already_exists' })
      }
      assert.equal(statSync(taken).size, 'precious'.length)
    })
  })
}
