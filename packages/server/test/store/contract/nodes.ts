import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { millisecondsOfTicks } from '@property-events/protocol'
import { readClock } from '../../../src/runtime/clock.ts'
import { nodeSilenceMs, shareSilenceMs } from '../../../src/nodes/node.ts'
import { uuid } from '../support/drafts.ts'
import { testClock } from '../support/test-clock.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const node = (name: string, ...pepperIds: readonly string[]) => ({
  nodeId: uuid(name),
  place: `${name}, process 1`,
  pepperIds,
  ignoresProxy: false,
})

export function nodesContract(factory: StoreFactory): void {
  describe('nodes', () => {
    it('lists those that live, and no more those that went or are silent (D11)', async () => {
      const time = testClock('2026-03-01T10:00:00Z')
      await using store = await factory.create({ clock: time.clock })
      assert.deepEqual(await store.nodes.live(), [])
      await store.nodes.announce(node('one', 'old', 'new'))
      time.set('2026-03-01T10:00:20Z')
      await store.nodes.announce(node('two', 'new'))
      assert.deepEqual(await store.nodes.live(), [
        { ...node('one', 'old', 'new'), silentMs: 20_000 },
        { ...node('two', 'new'), silentMs: 0 },
      ])
      time.set('2026-03-01T10:00:30Z')
      await store.nodes.announce(node('one', 'new'))
      const changed = (await store.nodes.live()).find(({ nodeId }) => nodeId === uuid('one'))
      assert.deepEqual(changed, { ...node('one', 'new'), silentMs: 0 }, 'what it said last')
      await store.nodes.retire(uuid('two'))
      await store.nodes.retire(uuid('never there'))
      assert.deepEqual(
        (await store.nodes.live()).map(({ nodeId }) => nodeId),
        [uuid('one')],
      )
      const consoleUrl = 'https://feed.example.com/feeds'
      await store.nodes.announce({ ...node('one', 'new'), consoleUrl })
      assert.deepEqual(
        (await store.nodes.live()).map((live) => live.consoleUrl),
        [consoleUrl],
      )
      const silentMs = millisecondsOfTicks(readClock(time.clock)) + nodeSilenceMs
      time.set(new Date(silentMs).toISOString())
      assert.deepEqual(await store.nodes.live(), [])
    })

    it('counts those that share the rates of keys: silent ones drop out within seconds (D10)', async () => {
      const time = testClock('2026-03-01T10:00:00Z')
      await using store = await factory.create({ clock: time.clock })
      const { isShared } = store.nodes
      const counts = async (...names: readonly string[]) => {
        const said: number[] = []
        for (const name of names) said.push(await store.nodes.announce(node(name)))
        return said
      }
      assert.deepEqual(await counts('one', 'two', 'three', 'one'), isShared ? [1, 2, 3, 3] : [1, 1, 1, 1])
      await store.nodes.retire(uuid('three'))
      assert.deepEqual(await counts('one'), isShared ? [2] : [1])
      time.set(`2026-03-01T10:00:0${shareSilenceMs / 1_000}Z`)
      assert.deepEqual(await counts('one', 'two'), isShared ? [1, 2] : [1, 1])
      assert.equal((await store.nodes.live()).length, 2)
    })

    it('lists which of them are reached through a proxy that they do not trust (D10)', async () => {
      await using store = await factory.create()
      const ignoring = async () =>
        (await store.nodes.live()).filter(({ ignoresProxy }) => ignoresProxy).length
      await store.nodes.announce(node('one'))
      await store.nodes.announce(node('two'))
      assert.equal(await ignoring(), 0)
      await store.nodes.announce({ ...node('one'), ignoresProxy: true })
      assert.equal(await ignoring(), 1)
      await store.nodes.announce(node('one'))
      assert.equal(await ignoring(), 0)
    })

    it('takes announcements that meet each other, a silent node and a new pepper (D11)', async () => {
      const time = testClock('2026-03-01T10:00:00Z')
      await using store = await factory.create({ clock: time.clock })
      const names = ['one', 'two', 'three', 'four', 'five', 'six']
      for (let round = 0; round < 10; round += 1) {
        await store.nodes.announce(node('silent', 'old'))
        time.set(new Date(millisecondsOfTicks(readClock(time.clock)) + nodeSilenceMs).toISOString())
        const announced = names.map((name) => store.nodes.announce(node(name, `pepper-${round}`)))
        const finished = store.nodes.finishPepper(`pepper-${round}`, 'cli:test')
        await Promise.all([...announced, store.nodes.announce(node('silent', `pepper-${round}`)), finished])
        const living = (await store.nodes.live()).map(({ nodeId }) => nodeId)
        assert.deepEqual(living.toSorted(), [...names, 'silent'].map(uuid).toSorted())
        assert.deepEqual(await finished, { kind: 'finished' })
      }
    })

    it('names a new pepper only when every live node knows it, and keys show which one they use (D11)', async () => {
      await using store = await withTenants(await factory.create())
      const key = (keyId: string, pepperId: string) => ({
        keyId,
        secretHash: Uint8Array.from({ length: 32 }, (_, index) => index),
        pepperId,
        label: '',
        operator: true,
        grants: [],
        createdMs: 1,
        expiresMs: undefined,
        revokedMs: undefined,
        lastUsedMs: undefined,
        rate: undefined,
      })
      await store.keys.insertKey(key('k', 'old'), 'cli:test')
      await store.keys.insertKey(key('gone', 'older'), 'cli:test')
      await store.keys.revokeKey('gone', 2, 'cli:test')
      assert.deepEqual(await store.keys.pepperIdsInUse(), ['old'])
      await store.nodes.announce(node('one', 'old'))
      await store.nodes.announce(node('two', 'new', 'old'))
      const refused = await store.nodes.finishPepper('new', 'cli:test')
      assert(refused.kind === 'lacking')
      assert.deepEqual(
        refused.nodes.map(({ place }) => place),
        ['one, process 1'],
      )
      assert.equal(await store.nodes.pepperId(), undefined)
      assert.equal((await store.keys.findKey('k'))?.currentPepperId, undefined)
      await store.nodes.announce(node('one', 'new', 'old'))
      assert.deepEqual(await store.nodes.finishPepper('new', 'cli:test'), { kind: 'finished' })
      assert.equal(await store.nodes.pepperId(), 'new')
      assert.equal((await store.keys.findKey('k'))?.currentPepperId, 'new')
    })

    it('puts another hash of a key in place of the one it was made from, and of no other (D11)', async () => {
      await using store = await withTenants(await factory.create())
      const hash = (byte: number) => new Uint8Array(32).fill(byte)
      const parts = { label: 'l', operator: true, grants: [], createdMs: 1, expiresMs: undefined }
      await store.keys.insertKey(
        {
          ...parts,
          keyId: 'k',
          secretHash: hash(1),
          pepperId: 'old',
          revokedMs: undefined,
          lastUsedMs: 5,
          rate: undefined,
        },
        'cli:test',
      )
      const fresh = { secretHash: hash(2), pepperId: 'new' }
      assert.equal(await store.keys.rehashKey('k', 'older', fresh, 'cli:test'), 'unchanged')
      assert.equal(await store.keys.rehashKey('other', 'old', fresh, 'cli:test'), 'unchanged')
      assert.equal(await store.keys.rehashKey('k', 'old', fresh, 'cli:test'), 'done')
      assert.equal(
        await store.keys.rehashKey('k', 'old', { ...fresh, secretHash: hash(3) }, 'cli:test'),
        'unchanged',
      )
      const record = (await store.keys.findKey('k'))?.record
      assert.deepEqual([...(record?.secretHash ?? [])], [...hash(2)])
      assert.deepEqual([record?.pepperId, record?.lastUsedMs, record?.label], ['new', 5, 'l'])
      assert.deepEqual(await store.keys.pepperIdsInUse(), ['new'])
    })
  })
}
