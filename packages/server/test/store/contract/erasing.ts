import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { uuidV7 } from '@property-events/protocol'
import type { FeedEvent } from '@property-events/protocol'
import { compactStore } from '../../../src/privacy/erasure/compact.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { batch, draft, feedKey, removal, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { begin, erase, erasureOf, reduceAll, subject, wholeText } from '../support/erasing.ts'
import { codes, headOf, list, numbers, parseEvent, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock } from '../support/test-clock.ts'

const canary = 'canary-7f31'
const contacts = feedKey(tenantA, 'contact')

function gone(name: string, field = 'agent_ref'): string {
  return `{"${field}":"${uuid(name)}","published":false,"erased":true}`
}

/** Three events of `p` with the canary wherever a text can stand, among two of others. */
async function storeWithCanary(store: StorageEngine): Promise<StorageEngine> {
  await withTenants(store)
  const words = { subject: 'p', text: canary, branch: 'b', updateDate: canary }
  await publish(store, [draft({ ...words, id: 'first' }), draft({ subject: 'q', text: 'stays' })])
  await publish(store, [draft({ ...words, text: `${canary} 2`, id: 'second' })])
  await publish(store, [draft({ ...words, text: `${canary} 2`, id: 'skipped' })], { unchanged: 'skip' })
  await publish(store, [
    draft({ ...words, text: `${canary} 3`, category: 'sales', id: 'third' }),
    draft({ subject: 'r' }),
  ])
  return store
}

/** What must be as it was, whatever was erased. */
function frame(event: FeedEvent): FeedEvent {
  return { ...event, payload: '' }
}

export function erasingContract(factory: StoreFactory): void {
  describe('erasing a subject', () => {
    it('closes it with an event without a payload, then removes the payloads of its earlier events (D17)', async () => {
      await using store = await storeWithCanary(await factory.create())
      const before = await list(store)
      const { revision } = await headOf(store)
      const erasure = await begin(store, subject('p'))
      assert.deepEqual(
        { state: erasure.state, events: erasure.events, reduced: erasure.reduced },
        { state: 'reducing', events: 3, reduced: 0 },
      )
      assert.equal(erasure.closing?.sequenceNumber, 6)
      const closing = (await list(store)).at(-1)
      assert.equal(closing?.payload, gone('p'))
      assert.equal(closing?.eventTypeShortCode, 'PropertyUnpublished')
      assert.equal(closing?.id, erasure.closing?.eventId)
      assert.equal(closing?.transactionId, uuid('p'))
      assert.equal((await headOf(store)).revision, revision, 'nothing was reduced yet')

      await reduceAll(store, erasure.erasureId)
      const after = await list(store)
      assert.deepEqual(after.slice(0, 5).map(frame), before.map(frame))
      const payloads = after.map(({ id, payload }) => [id, payload])
      assert.deepEqual(payloads, [
        [uuid('first'), gone('p')],
        [before[1]?.id, before[1]?.payload],
        [uuid('second'), gone('p')],
        [uuid('third'), gone('p')],
        [before[4]?.id, before[4]?.payload],
        [closing?.id, gone('p')],
      ])
      assert.ok((await headOf(store)).revision > revision)
      assert.ok(!(await wholeText(store)).includes(canary))
    })

    it('gives the same event by its id, in every list and history, and keeps categories and ordinals (P9, P4)', async () => {
      await using store = await storeWithCanary(await factory.create())
      const sales = await list(store, { view: 'sales' })
      await erase(store, subject('p'), {}, 1)
      const all = await list(store)
      for (const event of all) {
        const found = await store.events.readEvent(feedKey(), event.id)
        assert.deepEqual(found && parseEvent(found.json), event)
      }
      assert.deepEqual(numbers(await list(store, { view: 'sales' })), [...numbers(sales), 6])
      const history = await store.events.readSubject({
        key: feedKey(),
        subjectId: uuid('p'),
        after: 0,
        limit: 10,
      })
      assert.deepEqual(
        history.map(({ json }) => parseEvent(json).payload),
        Array.from({ length: 4 }, () => gone('p')),
      )
      const latest = await store.events.readLatest(feedKey(), uuid('p'))
      assert.equal(latest?.sequenceNumber, 6)
    })

    it('closes a contact as well, and derives nothing (D17, D23)', async () => {
      await using store = await storeWithCanary(await factory.create())
      await publish(store, [draft({ subject: 'c', text: canary })], { key: contacts })
      await erase(store, subject('c'), { key: contacts })
      const events = await list(store, { key: contacts })
      assert.deepEqual(codes(events), ['ContactCreated', 'ContactErased'])
      assert.deepEqual(
        events.map(({ payload }) => payload),
        [gone('c', 'contact_ref'), gone('c', 'contact_ref')],
      )
    })

    it('keeps its ids taken, and says that their content is gone; no content can be found by a hash any more (D14, D17)', async () => {
      await using store = await storeWithCanary(await factory.create())
      const { closing } = await erase(store, subject('p'))
      const words = { subject: 'p', text: canary, branch: 'b', updateDate: canary }
      for (const id of ['first', 'second', 'skipped', 'third']) {
        const [outcome] = await store.events.append([batch([draft({ ...words, id })])])
        assert.deepEqual(outcome, { kind: 'idConflict', index: 0, id: uuid(id), isGone: true })
      }
      const sent = { ...draft(words), id: closing?.eventId ?? '', idGiven: true }
      assert.deepEqual(await store.events.append([batch([sent])]), [
        { kind: 'idConflict', index: 0, id: closing?.eventId, isGone: true },
      ])
      const other = draft({ subject: 'q', text: 'another', id: 'kept' })
      await publish(store, [other])
      const clash = draft({ subject: 'q', text: 'a third', id: 'kept' })
      assert.deepEqual(await store.events.append([batch([clash])]), [
        { kind: 'idConflict', index: 0, id: uuid('kept') },
      ])
    })

    it('leaves no hash of what was sent, from which a short text could be guessed (D17)', async () => {
      await using store = await withTenants(await factory.create())
      const words = { subject: 'p', text: canary, updateDate: '2026-01-02T10:20:30' }
      const drafts = [
        draft({ ...words, id: 'first' }),
        draft({ ...words, id: 'skipped' }),
        draft({ ...words, text: '2', id: 'second' }),
        draft({ ...words, text: '3' }),
      ]
      await publish(store, drafts, { unchanged: 'skip' })
      const hashes = drafts.flatMap(({ contentHash, content }) =>
        content.kind === 'payload' ? [contentHash, content.hash, content.updateDateHash] : [contentHash],
      )
      // A copy has no free space that could hold more than rows do.
      const found = async (): Promise<number> => {
        const bytes = await factory.bytesOfCopy(store)
        return hashes.filter((hash) => {
          const raw = Buffer.from(hash ?? [])
          return [raw, raw.toString('hex'), raw.toString('base64')].some((form) => bytes.includes(form))
        }).length
      }
      assert.ok((await found()) >= 5, 'hashes are found where there are any')
      await erase(store, subject('p'))
      assert.equal(await found(), 0)
    })

    it('leaves alone what is published while it runs, because that is new data (D17)', async () => {
      await using store = await storeWithCanary(await factory.create())
      const { erasureId } = await begin(store, subject('p'))
      const [again] = await publish(store, [draft({ subject: 'p', text: 'new' })])
      assert.equal(again?.eventTypeShortCode, 'PropertyPublished', 'it was closed')
      await store.erasures.reduce(erasureId, 1)
      await publish(store, [draft({ subject: 'p', text: 'newer' }), removal({ subject: 'p' })])
      await reduceAll(store, erasureId, 1)
      const texts = (await list(store)).map(({ payload }) => payload)
      assert.deepEqual(
        texts.slice(6).map((text) => JSON.parse(text).text),
        ['new', 'newer', 'newer'],
      )
      assert.ok(!(await wholeText(store)).includes(canary))
      // And again, with what has come since.
      const second = await erase(store, subject('p'), {}, 2)
      assert.equal(second.events, 7)
      assert.equal(second.reduced, 7)
      assert.ok(
        (await list(store)).every(
          ({ payload, transactionId }) => transactionId !== uuid('p') || payload === gone('p'),
        ),
      )
    })

    it('continues where it was, step by step, each with its own revision, and reports what it reduced (D17)', async () => {
      await using store = await storeWithCanary(await factory.create())
      const { revision } = await headOf(store)
      const { erasureId } = await begin(store, subject('p'))
      assert.deepEqual(await store.erasures.reductions(feedKey(), 0, 10), [])
      assert.deepEqual(await store.erasures.reduce(erasureId, 2), { kind: 'reduced', events: 2 })
      const [open] = await store.erasures.open()
      assert.deepEqual(
        { state: open?.state, reduced: open?.reduced, revision: open?.revision },
        { state: 'reducing', reduced: 2, revision: revision + 1 },
      )
      assert.equal(await reduceAll(store, erasureId, 2), 1)
      assert.equal((await headOf(store)).revision, revision + 2)
      const [one, two] = [
        { revision: revision + 1, sequenceNumbers: [1, 3] },
        { revision: revision + 2, sequenceNumbers: [4] },
      ]
      const asked = (after: number, limit: number) => store.erasures.reductions(feedKey(), after, limit)
      assert.deepEqual(await asked(revision, 10), [one, two])
      assert.deepEqual(await asked(revision, 3), [one, two])
      assert.deepEqual(await asked(revision, 2), [one])
      assert.deepEqual(await asked(revision, 1), [one], 'a whole step')
      assert.deepEqual(await asked(revision + 1, 10), [two])
      assert.deepEqual(await asked(revision + 2, 10), [])
      assert.deepEqual(await store.erasures.reductions(feedKey(tenantB), 0, 10), [])
    })

    it('waits in the middle while the tenant is moving, and then goes on (D13, D17)', async () => {
      await using store = await storeWithCanary(await factory.create())
      const { erasureId } = await begin(store, subject('p'))
      await store.moves.change(tenantA, 'open', 'leaving', 'cli:test')
      assert.deepEqual(await store.erasures.reduce(erasureId, 1), { kind: 'tenantMoving' })
      await store.moves.change(tenantA, 'leaving', 'open', 'cli:test')
      assert.deepEqual(await store.erasures.reduce(erasureId, 1), { kind: 'reduced', events: 1 })
    })

    it('begins nothing if there is nothing, or if publishing waits (D13, D17)', async () => {
      await using store = await storeWithCanary(await factory.create())
      const begun = async (...given: Parameters<typeof erasureOf>) =>
        store.erasures.begin(erasureOf(...given))
      const nobody = feedKey(uuid('nobody'))
      assert.deepEqual(await begun(subject('nobody')), { kind: 'unknownTarget' })
      assert.deepEqual(await begun(subject('p'), { key: feedKey(tenantB) }), { kind: 'unknownTarget' })
      assert.deepEqual(await begun(subject('p'), { key: nobody }), { kind: 'unknownFeed' })
      assert.deepEqual(await store.erasures.count(nobody, subject('p')), { kind: 'unknownFeed' })
      await store.moves.change(tenantA, 'open', 'leaving', 'cli:test')
      assert.deepEqual(await begun(subject('p')), { kind: 'tenantMoving' })
      assert.deepEqual(await begun({ kind: 'event', eventId: uuid('first') }), { kind: 'tenantMoving' })
      await store.moves.change(tenantA, 'leaving', 'open', 'cli:test')
      await using copy = await factory.copy(store)
      assert.deepEqual(await copy.erasures.begin(erasureOf(subject('p'))), { kind: 'epochRequired' })
      assert.equal((await list(store)).length, 5)
      assert.deepEqual(await store.erasures.open(), [])
    })
  })

  describe('erasing one event', () => {
    it("removes its payload and no other, and refuses a subject's latest (D17)", async () => {
      await using store = await storeWithCanary(await factory.create())
      const event = (name: string) => ({ kind: 'event', eventId: uuid(name) }) as const
      const before = await list(store)
      assert.deepEqual(await store.erasures.begin(erasureOf(event('third'))), { kind: 'eventIsLatest' })
      assert.deepEqual(await store.erasures.begin(erasureOf(event('nothing'))), { kind: 'unknownTarget' })
      assert.deepEqual(await store.erasures.begin(erasureOf(event('skipped'))), { kind: 'unknownTarget' })
      const erasure = await erase(store, event('second'))
      assert.deepEqual([erasure.events, erasure.reduced, erasure.closing], [1, 1, undefined])
      const after = await list(store)
      assert.deepEqual(after.map(frame), before.map(frame))
      const changed = after.filter(({ payload }, index) => payload !== before[index]?.payload)
      assert.deepEqual(
        changed.map(({ id, payload }) => [id, payload]),
        [[uuid('second'), gone('p')]],
      )
      const again = draft({ subject: 'p', text: `${canary} 2`, branch: 'b', updateDate: canary })
      for (const id of ['second', 'skipped']) {
        const [outcome] = await store.events.append([batch([{ ...again, id: uuid(id) }])])
        assert.deepEqual(outcome, { kind: 'idConflict', index: 0, id: uuid(id), isGone: true })
      }
    })
  })

  describe('an erasure', () => {
    it('counts and changes nothing beforehand', async () => {
      await using store = await storeWithCanary(await factory.create())
      const before = await wholeText(store)
      const count = (target: Parameters<typeof erasureOf>[0]) => store.erasures.count(feedKey(), target)
      assert.deepEqual(await count(subject('p')), { kind: 'counted', events: 3 })
      assert.deepEqual(await count({ kind: 'event', eventId: uuid('first') }), { kind: 'counted', events: 1 })
      assert.deepEqual(await count({ kind: 'event', eventId: uuid('third') }), { kind: 'eventIsLatest' })
      assert.deepEqual(await count(subject('nobody')), { kind: 'unknownTarget' })
      assert.equal(await wholeText(store), before)
    })

    it('is unreachable when every node that lives has said so, and overwritten after that (D17)', async () => {
      const time = testClock('2026-03-01T10:00:00Z')
      await using store = await storeWithCanary(await factory.create({ clock: time.clock }))
      const [one, two] = [uuid('node one'), uuid('node two')]
      for (const nodeId of [one, two])
        await store.nodes.announce({ nodeId, place: 'here', pepperIds: [], ignoresProxy: false })
      const { erasureId } = await begin(store, subject('p'))
      assert.equal(await store.erasures.acknowledge(erasureId, one), 'waiting', 'not reduced yet')
      await reduceAll(store, erasureId)
      assert.equal(await store.erasures.acknowledge(erasureId, two), 'waiting')
      assert.equal(await store.erasures.acknowledge(erasureId, undefined), 'waiting')
      const [open] = await store.erasures.open()
      assert.deepEqual(
        [open?.state, open?.acknowledgedBy],
        ['reduced', [two]],
        'what was said too early does not count',
      )
      assert.deepEqual(await store.erasures.waiting(), [])
      assert.equal(await store.erasures.markOverwritten([erasureId], 'cli:test'), 0)
      time.set('2026-03-01T10:00:50Z')
      assert.equal(await store.erasures.acknowledge(erasureId, one), 'unreachable')
      assert.equal(await store.erasures.acknowledge(erasureId, one), 'unreachable')
      assert.deepEqual(await store.erasures.open(), [])
      const unreachableMs = Date.parse('2026-03-01T10:00:50Z')
      assert.deepEqual(await store.erasures.waiting(), [{ erasureId, unreachableMs }])
      await store.rewrite()
      assert.equal(await store.erasures.markOverwritten([erasureId, uuid('none')], 'cli:test'), 1)
      assert.deepEqual(await store.erasures.waiting(), [])
      assert.equal(await store.erasures.markOverwritten([erasureId], 'cli:test'), 0, 'once')
      const erasure = await store.erasures.find(tenantA, erasureId)
      assert.deepEqual(
        [
          erasure?.state,
          erasure?.begunMs,
          erasure?.reducedMs,
          erasure?.unreachableMs,
          erasure?.overwrittenMs,
        ],
        [
          'overwritten',
          ...['00', '00', '50', '50'].map((second) => Date.parse(`2026-03-01T10:00:${second}Z`)),
        ],
      )
    })

    it('leaves to the next rewrite what is reduced during one, and records the rewrite in the audit (D17)', async () => {
      await using store = await storeWithCanary(await factory.create())
      const early = await erase(store, subject('p'))
      let late: string | undefined
      const rewrite = async (): Promise<void> => {
        await store.rewrite()
        late = (await erase(store, subject('q'))).erasureId
      }
      const compaction = await compactStore({ erasures: store.erasures, rewrite }, 'cli:test', {
        always: false,
      })
      assert.deepEqual(
        compaction.kind === 'compacted' && compaction.waited.map(({ erasureId }) => erasureId),
        [early.erasureId],
      )
      assert.equal((await store.erasures.find(tenantA, early.erasureId))?.state, 'overwritten')
      assert.equal((await store.erasures.find(tenantA, late ?? ''))?.state, 'unreachable')
      assert.equal((await compactStore(store, 'cli:test', { always: false })).kind, 'compacted')
      assert.equal((await compactStore(store, 'cli:test', { always: false })).kind, 'nothingWaits')
      assert.equal((await compactStore(store, 'cli:test', { always: true })).kind, 'compacted')
      const { storeId } = store.settings
      const rows = await store.audit.read({ first: 'oldest', action: 'store.compacted', limit: 9 })
      assert.ok(rows !== 'unknownRow')
      assert.deepEqual(
        rows.map(({ actor, tenant, target, detail }) => [actor, tenant, target, detail]),
        [1, 1, 0].map((erasures) => ['cli:test', null, storeId, { erasures }]),
      )
      assert.equal((await list(store)).length, 7, 'and every event is there')
    })

    it('does not wait for a node that has been silent for a minute (D17)', async () => {
      const time = testClock('2026-03-01T10:00:00Z')
      await using store = await storeWithCanary(await factory.create({ clock: time.clock }))
      await store.nodes.announce({ nodeId: uuid('node'), place: 'here', pepperIds: [], ignoresProxy: false })
      const { erasureId } = await begin(store, subject('p'))
      await reduceAll(store, erasureId)
      assert.equal(await store.erasures.acknowledge(erasureId, undefined), 'waiting')
      time.set('2026-03-01T10:00:59.999Z')
      assert.equal(await store.erasures.acknowledge(erasureId, undefined), 'waiting', 'it may only hang')
      time.set('2026-03-01T10:01:00Z')
      assert.equal(await store.erasures.acknowledge(erasureId, undefined), 'unreachable')
    })

    it('is kept, found by its tenant alone, and begun once under one id', async () => {
      await using store = await storeWithCanary(await factory.create())
      const request = erasureOf(subject('p'), { erasureId: uuidV7(1) })
      const first = await store.erasures.begin(request)
      assert.deepEqual(await store.erasures.begin(request), first)
      assert.equal((await list(store)).length, 6)
      const rows = await store.audit.read({ first: 'newest', limit: 1 })
      assert.ok(rows !== 'unknownRow')
      assert.deepEqual(
        rows.map(({ actor, action, tenant, target, detail }) => [actor, action, tenant, target, detail]),
        [
          [
            'key:k',
            'erasure.begun',
            tenantA,
            request.erasureId,
            { feed: 'property', of: 'subject', reason: request.reason },
          ],
        ],
      )
      assert.ok(first.kind === 'begun')
      const { reason, caseRef, receivedOn, actor, erasureId, target, key, closing } = first.erasure
      const closingEventId = closing?.eventId
      assert.deepEqual(
        { erasureId, key, target, reason, caseRef, receivedOn, actor, closingEventId },
        request,
      )
      const second = await begin(store, subject('q'), {
        erasureId: uuidV7(2),
        caseRef: undefined,
        receivedOn: undefined,
      })
      assert.deepEqual(await store.erasures.list(tenantA, undefined, 10), [first.erasure, second])
      assert.deepEqual(await store.erasures.list(tenantA, erasureId, 10), [second])
      assert.deepEqual(await store.erasures.list(tenantA, undefined, 1), [first.erasure])
      assert.deepEqual(await store.erasures.find(tenantA, second.erasureId), second)
      assert.equal(await store.erasures.find(tenantB, second.erasureId), undefined)
      assert.deepEqual(await store.erasures.list(tenantB, undefined, 10), [])
    })

    it('is reported to watchers, and shows in the count of changes before the step is answered (P8)', async () => {
      await using store = await storeWithCanary(await factory.create())
      let told = 0
      const stop = store.events.watch((key) => {
        if (key === undefined || (key.tenantId === tenantA && key.feed === 'property')) told += 1
      })
      const counts = [store.events.changeCount(feedKey())]
      const { erasureId } = await begin(store, subject('p'))
      counts.push(store.events.changeCount(feedKey()))
      await store.erasures.reduce(erasureId, 1)
      counts.push(store.events.changeCount(feedKey()))
      stop()
      assert.equal(new Set(counts).size, 3)
      assert.ok(told >= 2)
    })

    it('is part of a backup, in which it continues', async () => {
      await using store = await storeWithCanary(await factory.create())
      const { erasureId } = await begin(store, subject('p'))
      await store.erasures.reduce(erasureId, 1)
      await using copy = await factory.copy(store)
      const [open] = await copy.erasures.open()
      assert.deepEqual([open?.erasureId, open?.reduced], [erasureId, 1])
      await reduceAll(copy, erasureId)
      assert.ok(!(await wholeText(copy)).includes(canary))
    })
  })
}
