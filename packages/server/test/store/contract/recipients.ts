import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { numbersPerBlock } from '../../../src/privacy/disclosure/disclosure.ts'
import type { NumberRange, DisclosurePiece } from '../../../src/privacy/disclosure/disclosure.ts'
import type { EventPosition } from '../../../src/events/event-log.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { draft, feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { begin, reduceAll, subject } from '../support/erasing.ts'
import { publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const contacts = feedKey(tenantA, 'contact')
const hourMs = 3_600_000
const hourNow = (): number => Math.floor(Date.now() / hourMs)

function piece(ranges: readonly NumberRange[], changes: Partial<DisclosurePiece> = {}): DisclosurePiece {
  return { key: contacts, keyId: 'key', view: 'all', hour: 480_000, block: 0, ranges, ...changes }
}

async function unreachable(store: StorageEngine): Promise<string> {
  await publish(store, [draft({ subject: 'p' }), draft({ subject: 'q' })], { key: contacts })
  const { erasureId } = await begin(store, subject('p'), { key: contacts })
  await reduceAll(store, erasureId)
  assert.equal(await store.erasures.acknowledge(erasureId, undefined), 'unreachable')
  return erasureId
}

export function recipientsContract(factory: StoreFactory): void {
  describe('recipients', () => {
    it('are found by block and hour, of all keys, piece by piece (D28)', async () => {
      await using store = await withTenants(await factory.create())
      const wanted = [480_000, 480_001, 480_005].flatMap((hour) =>
        ['Key', 'a key', 'key'].flatMap((keyId) =>
          (['all', 'numbers'] as const).map((view) => piece([[1, hour - 479_990]], { hour, keyId, view })),
        ),
      )
      const others = [
        piece([[numbersPerBlock, numbersPerBlock]], { block: 1 }),
        piece([[1, 1]], { key: feedKey(tenantA, 'property') }),
        piece([[1, 1]], { key: feedKey(tenantB, 'contact') }),
      ]
      await store.ledger.add([...others, ...wanted])
      const read: DisclosurePiece[] = []
      const query = { key: contacts, block: 0, fromHour: 0, toHour: 1_000_000 }
      for (;;) {
        const next = await store.ledger.sentOf({ ...query, after: read.at(-1), limit: 4 })
        read.push(...next)
        if (next.length < 4) break
      }
      assert.deepEqual(read, wanted)
      const within = await store.ledger.sentOf({ ...query, fromHour: 480_001, toHour: 480_004, limit: 100 })
      assert.deepEqual(
        within,
        wanted.filter(({ hour }) => hour === 480_001),
      )
      assert.deepEqual(
        await store.ledger.sentOf({ ...query, block: 1, limit: 9 }),
        others.filter(({ block }) => block === 1),
      )
    })

    it('need the places of a subject’s events, across epochs (D28)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [
        draft({ subject: 'p' }),
        draft({ subject: 'q' }),
        draft({ subject: 'p', text: '2' }),
      ])
      await store.startEpoch(100, 'cli:test')
      await publish(store, [draft({ subject: 'p', text: '3' })])
      const placesOf = (name: string, after: number, limit: number) =>
        store.events.subjectPositions({ key: feedKey(), subjectId: uuid(name), after, limit })
      const places: readonly EventPosition[] = [
        { position: 1, sequenceNumber: 1 },
        { position: 3, sequenceNumber: 3 },
        { position: 4, sequenceNumber: 101 },
      ]
      assert.deepEqual(await placesOf('p', 0, 10), places)
      assert.deepEqual(await placesOf('p', 0, 2), places.slice(0, 2))
      assert.deepEqual(await placesOf('p', 3, 10), places.slice(2))
      assert.deepEqual(await placesOf('nobody', 0, 10), [])
      const nowhere = { key: feedKey(uuid('nobody')), subjectId: uuid('p'), after: 0, limit: 1 }
      assert.deepEqual(await store.events.subjectPositions(nowhere), [])
    })

    it('are noted with an erasure when it is unreachable, so that later reads do not count (D17, D28)', async () => {
      await using store = await withTenants(await factory.create())
      const now = piece([[1, 2]], { hour: hourNow() })
      const other = piece([[1, 2]], { hour: hourNow(), key: feedKey(tenantB, 'contact') })
      const elsewhere = piece([[70_000, 70_002]], { hour: hourNow(), block: 4 })
      await store.ledger.add([now, other, elsewhere, piece([[2, 2]], { keyId: 'earlier' })])
      await publish(store, [draft({ subject: 'r' })], { key: contacts })
      const early = await begin(store, subject('r'), { key: contacts })
      assert.equal(await store.erasures.sentBefore(early.erasureId), undefined)
      const erasureId = await unreachable(store)
      await store.ledger.add([
        { ...now, ranges: [[3, 9]] },
        { ...now, keyId: 'later' },
      ])

      const before = await store.erasures.sentBefore(erasureId)
      assert.ok(before !== undefined)
      // An hour that had hardly begun is noted with the one before.
      assert.ok(before.fromHour === now.hour || before.fromHour === now.hour - 1)
      assert.deepEqual([before.pieces, before.doubtMs], [[now], undefined])
      assert.equal(await store.erasures.sentBefore(uuid('no erasure')), undefined)
      await using backup = await factory.copy(store)
      assert.deepEqual(await backup.erasures.sentBefore(erasureId), before)
    })

    it('are in doubt since the last word of a run that has said nothing for long (D28)', async () => {
      await using store = await withTenants(await factory.create())
      const mark = (name: string, silentMs: number, ended = false) =>
        store.ledger.mark({ runId: uuid(name), beganMs: 1, throughMs: Date.now() - silentMs, ended })
      // Found silent long ago: what it left unsaid lies before anything the erasure needs to know.
      await mark('of old', 30 * hourMs)
      await mark('found it', 20 * hourMs)
      await mark('found it', 0)
      const silentMs = Date.now() - 100_000
      await store.ledger.mark({ runId: uuid('crashed'), beganMs: 1, throughMs: silentMs, ended: false })
      await mark('stopped', 110_000, true)
      const doubted = await unreachable(store)
      assert.equal((await store.erasures.sentBefore(doubted))?.doubtMs, silentMs)
    })
  })
}
