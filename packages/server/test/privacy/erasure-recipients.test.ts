/** What a receipt says after crashes, and of what is sent when all is gone (D17, D28). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allAcknowledgedMs } from '../../src/privacy/erasure/erasure-acknowledged.ts'
import { erasureRecipients } from '../../src/privacy/erasure/erasure-recipients.ts'
import { piecesOf, placesOf } from '../../src/privacy/disclosure/recipients.ts'
import type { SharedClock } from '../../src/runtime/clock.ts'
import type { KeyRecord } from '../../src/keys/key.ts'
import type { SubjectPositionsQuery } from '../../src/events/event-log.ts'
import type { PiecesOfBlockQuery, DisclosurePiece } from '../../src/privacy/disclosure/disclosure.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { draft, feedKey, tenantA, tenantB, uuid } from '../store/support/drafts.ts'
import { begin, erase, reduceAll, subject } from '../store/support/erasing.ts'
import { publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { testClock } from '../store/support/test-clock.ts'
import { temporaryStore } from '../support/temporary-store.ts'

const key = feedKey(tenantA, 'contact')
const hourMs = 3_600_000

function open(clock?: SharedClock): Promise<StorageEngine> {
  return temporaryStore(clock === undefined ? {} : { clock }).then(withTenants)
}

async function addKey(store: StorageEngine, keyId: string, changes: Partial<KeyRecord> = {}): Promise<void> {
  const record: KeyRecord = {
    keyId,
    secretHash: new Uint8Array(32),
    pepperId: 'pepper',
    label: `label of ${keyId}`,
    operator: false,
    grants: [{ tenantId: tenantA, scopes: ['contact:read'] }],
    createdMs: 1,
    expiresMs: undefined,
    revokedMs: undefined,
    lastUsedMs: undefined,
    rate: undefined,
    ...changes,
  }
  assert.equal(await store.keys.insertKey(record, 'cli:test'), 'created')
}

function sent(
  keyId: string,
  first: number,
  last: number,
  changes: Partial<DisclosurePiece> = {},
): DisclosurePiece {
  const hour = Math.floor(Date.now() / hourMs)
  return { key, keyId, view: 'all', hour, block: 0, ranges: [[first, last]], ...changes }
}

async function receipt(store: StorageEngine, erasureId: string, nowMs = Date.now()) {
  const erasure = await store.erasures.find(tenantA, erasureId)
  assert.ok(erasure !== undefined)
  const found = await erasureRecipients(store, erasure, nowMs)
  assert.ok(found !== undefined)
  return found
}

describe('recipients of erased events', () => {
  it('are possibly all keys that could read while a run had not reported what it sent (D28)', async () => {
    const time = testClock('2026-03-01T10:00:00')
    await using store = await open(time.clock)
    const at = (text: string) => Date.parse(`2026-03-01T${text}:00Z`)
    await addKey(store, 'sure')
    await addKey(store, 'reader', { createdMs: 2 })
    await addKey(store, 'ended', { createdMs: 3, revokedMs: at('10:06') })
    await addKey(store, 'ended before', { createdMs: 4, expiresMs: at('10:04') })
    await addKey(store, 'not made yet', { createdMs: at('10:30') })
    await addKey(store, 'elsewhere', { grants: [{ tenantId: tenantB, scopes: ['contact:read'] }] })
    await addKey(store, 'of properties', { grants: [{ tenantId: tenantA, scopes: ['property:read'] }] })
    await publish(store, [draft({ subject: 'p' })], { key })
    await store.ledger.add([sent('sure', 1, 1, { hour: at('10:00') / hourMs })])
    const crashed = { runId: uuid('crashed'), beganMs: 1, throughMs: at('10:05') }
    await store.ledger.mark({ ...crashed, ended: false })
    // One that was lost before there was anything to send.
    const gone = { runId: uuid('gone'), beganMs: 1, throughMs: at('05:00') }
    await store.ledger.mark({ ...gone, ended: false })
    await store.ledger.mark({ runId: uuid('finds'), beganMs: 1, throughMs: at('06:00'), ended: false })
    await store.ledger.mark({ runId: uuid('finds'), beganMs: 1, throughMs: at('06:01'), ended: true })
    time.set('2026-03-01T10:20:00')
    const { erasureId } = await erase(store, subject('p'), { key })
    const { recipients, unknownTimes } = await receipt(store, erasureId, at('11:00'))
    assert.deepEqual(unknownTimes, [{ fromMs: at('10:05'), toMs: at('10:20') }])
    assert.deepEqual(
      recipients.map(({ keyId, certainty, label }) => [keyId, certainty, label]),
      [
        ['sure', 'sent', 'label of sure'],
        ['reader', 'possibly', 'label of reader'],
        ['ended', 'possibly', 'label of ended'],
      ],
    )
    // It comes back, having been cut off: what it adds then is of the same hour as what it sends now.
    await store.ledger.mark({ ...crashed, throughMs: at('11:00'), ended: false })
    assert.equal((await receipt(store, erasureId, at('11:01'))).recipients.length, 3)
  })

  it('are none of those whose reads came when all was gone, or were of other events (D17, D28)', async () => {
    await using store = await open()
    await publish(
      store,
      [draft({ subject: 'p' }), draft({ subject: 'q' }), draft({ subject: 'p', text: '2' })],
      { key },
    )
    await store.ledger.add([
      sent('one', 1, 2),
      sent('other', 2, 2),
      sent('numbers', 3, 3, { view: 'numbers' }),
    ])
    const { erasureId } = await begin(store, subject('p'), { key })
    await reduceAll(store, erasureId)
    assert.equal(await store.erasures.acknowledge(erasureId, undefined), 'unreachable')
    const hour = Math.floor(Date.now() / hourMs)
    await store.ledger.add([sent('late', 1, 9), sent('one', 1, 4), sent('late', 1, 9, { hour: hour + 5 })])
    const { recipients, unknownTimes } = await receipt(store, erasureId)
    assert.deepEqual(unknownTimes, [])
    assert.deepEqual(
      recipients.map((one) => [one.keyId, one.sent?.events, one.toldByMs !== undefined]),
      [
        ['numbers', 1, false],
        ['one', 1, true],
      ],
    )
  })

  it('count what an earlier erasure took only for whom it was sent before that (D17)', async () => {
    await using store = await open()
    await publish(store, [draft({ subject: 'p' })], { key })
    await store.ledger.add([sent('early', 1, 1)])
    const first = await erase(store, subject('p'), { key })
    await publish(store, [draft({ subject: 'p', text: 'again' })], { key })
    await store.ledger.add([sent('second', 3, 3)])
    const second = await erase(store, subject('p'), { key })
    const keysOf = async (erasureId: string) =>
      (await receipt(store, erasureId)).recipients.map(({ keyId }) => keyId)
    assert.deepEqual(await keysOf(first.erasureId), ['early'])
    assert.deepEqual(await keysOf(second.erasureId), ['early', 'second'])
  })

  it('say which of their consumers have acknowledged the closing event, in the epoch of the feed (D17, D28)', async () => {
    await using store = await open()
    await addKey(store, 'one')
    await addKey(store, 'several')
    await addKey(store, 'silent')
    await publish(store, [draft({ subject: 'p' })], { key })
    await store.ledger.add(['one', 'several', 'silent'].map((keyId) => sent(keyId, 1, 1)))
    const { erasureId, closing } = await erase(store, subject('p'), { key })
    const { epoch = '' } = (await store.events.head(key)) ?? {}
    const number = closing?.sequenceNumber ?? 0
    assert.equal(number, 2)
    const shown = async () => {
      const { recipients } = await receipt(store, erasureId)
      return recipients.map(({ keyId, consumers }) => [
        keyId,
        allAcknowledgedMs(consumers),
        consumers.map(({ name, acknowledgedMs }) => [name, acknowledgedMs]),
      ])
    }
    const reading = {
      key,
      view: 'all',
      space: 'numbers',
      epoch: '',
      askedMs: 1,
      status: 200,
      route: 'run',
    } as const
    await store.consumers.add([
      { ...reading, keyId: 'several', name: 'site', quietMs: undefined, minutes: [] },
    ])
    const say = (keyId: string, name: string, sequenceNumber: number, acknowledgedMs: number, of = epoch) =>
      store.consumers.acknowledge([{ key, keyId, name, sequenceNumber, epoch: of, acknowledgedMs }])
    await say('one', 'default', number - 1, 10)
    await say('several', 'portal', number, 20)
    await say('several', 'other epoch', number + 5, 21, 'another')
    await say('silent', 'default', 0, 5)
    assert.deepEqual(await shown(), [
      ['one', undefined, [['default', undefined]]],
      [
        'several',
        undefined,
        [
          ['other epoch', undefined],
          ['portal', 20],
          ['site', undefined],
        ],
      ],
      ['silent', undefined, [['default', undefined]]],
    ])
    await say('one', 'default', number, 30)
    await say('several', 'site', number + 1, 40)
    await say('several', 'other epoch', number, 35)
    const [one, several, silent] = await shown()
    assert.deepEqual([one?.[1], several?.[1], silent?.[1]], [30, 40, undefined])
    // Nothing was closed, so nothing can be acknowledged.
    const event = await store.erasures.find(tenantA, erasureId)
    assert.ok(event !== undefined)
    const found = await erasureRecipients(store, { ...event, closing: undefined }, Date.now())
    assert.ok(found?.recipients.every(({ consumers }) => allAcknowledgedMs(consumers) === undefined))
  })

  it('are gathered in steps, between which others are answered (P5, D28)', async (context) => {
    context.after(() => clearImmediate(turn))
    let turns = 0
    const count = (): void => {
      turns += 1
      turn = setImmediate(count)
    }
    let turn = setImmediate(count)
    const ledger = {
      // Answers at once, as the SQLite engine does.
      sentOf: async ({ after, limit }: PiecesOfBlockQuery) =>
        (after?.hour ?? 0) < 20
          ? Array.from({ length: limit }, () => sent('k', 1, 1, { hour: (after?.hour ?? 0) + 1 }))
          : [],
    }
    const events = {
      subjectPositions: async ({ after, limit }: SubjectPositionsQuery) =>
        after < 20 * limit
          ? Array.from({ length: limit }, (_, n) => ({
              position: after + n + 1,
              sequenceNumber: after + n + 1,
            }))
          : [],
    }
    const places = await placesOf({ events }, key, uuid('p'))
    assert.equal(places.length, 200_000)
    assert.ok(turns >= 20, `${turns} turns for 20 pieces of places`)
    turns = 0
    for await (const piece of piecesOf(ledger, key, places.slice(0, 1))) assert.equal(piece.keyId, 'k')
    assert.ok(turns >= 20, `${turns} turns for 20 pieces of the ledger`)
  })
})
