import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FeedEvent } from '@property-events/protocol'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { batch, draft, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { begin, erase, erasureOf, reduceAll, subject, wholeText } from '../support/erasing.ts'
import { codes, headOf, list, parseEvent, publish } from '../support/read-back.ts'
import {
  beginLifting,
  beginRestriction,
  contacts,
  keptTexts,
  lift,
  restrict,
  restrictionOf,
  stateOf,
  stepAll,
} from '../support/restricting.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock } from '../support/test-clock.ts'
import { moveRound } from './moving.ts'
import { transfer } from './transferring.ts'

const canary = 'canary-9d20'
const gone = `{"contact_ref":"${uuid('c')}","published":false,"erased":true}`
const options = { key: contacts }

/** Three events of the contact `c`, at positions 1, 3 and 4, and one of `d`. */
async function storeWithContact(store: StorageEngine): Promise<StorageEngine> {
  await withTenants(store)
  await publish(
    store,
    [draft({ subject: 'c', text: `${canary} 1`, id: 'one' }), draft({ subject: 'd' })],
    options,
  )
  await publish(store, [draft({ subject: 'c', text: `${canary} 2`, id: 'two' })], options)
  await publish(store, [draft({ subject: 'c', text: `${canary} 3`, id: 'three' })], options)
  return store
}

/** Everything the port shows of the contact feed. */
async function shown(store: StorageEngine): Promise<readonly FeedEvent[]> {
  const all = await list(store, options)
  for (const event of all) {
    const found = await store.events.readEvent(contacts, event.id)
    assert.deepEqual(found && parseEvent(found.json), event)
  }
  const history = await store.events.readSubject({
    key: contacts,
    subjectId: uuid('c'),
    after: 0,
    limit: 100,
  })
  const ofContact = all.filter(({ transactionId }) => transactionId === uuid('c'))
  assert.deepEqual(
    history.map(({ json }) => parseEvent(json)),
    ofContact,
  )
  const latest = await store.events.readLatest(contacts, uuid('c'))
  assert.deepEqual(latest && parseEvent(latest.json), ofContact.at(-1))
  return all
}

async function texts(store: StorageEngine): Promise<readonly unknown[]> {
  return (await shown(store)).map(({ payload }) => (JSON.parse(payload) as { text?: unknown }).text)
}

const kept = [`${canary} 1`, `${canary} 2`, `${canary} 3`]

export function restrictingContract(factory: StoreFactory): void {
  describe('restricting a contact', () => {
    it('removes it from consumers with an event, hides its payloads, and keeps them (D17)', async () => {
      await using store = await storeWithContact(await factory.create())
      const before = await shown(store)
      const { revision } = await headOf(store, contacts)
      const { restrictionId, state, closing } = await beginRestriction(store, 'c')
      assert.equal(state, 'hiding')
      // The latest is hidden at once: it says how the contact is.
      assert.deepEqual(await texts(store), [kept[0], '', kept[1], undefined, undefined])
      assert.equal(await stepAll(store, restrictionId, 1), 2)
      const after = await shown(store)
      const closed = after.at(-1)
      assert.deepEqual(
        [closed?.payload, closed?.eventTypeShortCode, closed?.id, closed?.sequenceNumber],
        [gone, 'ContactErased', closing.eventId, closing.sequenceNumber],
      )
      assert.deepEqual(
        after.slice(0, -1),
        before.map((event) => (event.transactionId === uuid('c') ? { ...event, payload: gone } : event)),
        'numbers, times, types and ids are what they were',
      )
      assert.deepEqual(await keptTexts(store, 'c'), kept)
      assert.deepEqual(await keptTexts(store, 'd'), [])
      assert.deepEqual(await store.erasures.reductions(contacts, revision, 10), [
        { revision: revision + 1, sequenceNumbers: [4] },
        { revision: revision + 2, sequenceNumbers: [1] },
        { revision: revision + 3, sequenceNumbers: [3] },
      ])
      assert.equal((await headOf(store, contacts)).revision, revision + 3)
    })

    it('takes nothing for unchanged because it reads like what is shown in its place (D14, D17)', async () => {
      await using store = await storeWithContact(await factory.create())
      const { restrictionId } = await restrict(store, 'c')
      const asShown = draft({ subject: 'c', json: ` ${gone} `, published: undefined })
      const [line] = await publish(store, [asShown], { ...options, unchanged: 'skip' })
      assert.deepEqual([line?.status, line?.remarks], ['appended', ['restricted']])
      await lift(store, restrictionId)
      assert.equal((await list(store, options)).at(-1)?.payload, ` ${gone} `)
    })

    it('stores what is published about it, shows none of it, and says so (D17, D14)', async () => {
      await using store = await storeWithContact(await factory.create())
      await restrict(store, 'c')
      const sent = [
        draft({ subject: 'c', text: `${canary} 4`, id: 'four' }),
        draft({ subject: 'd', text: 'other' }),
        draft({ subject: 'c', text: `${canary} 5`, id: 'five', type: 'ContactUpdated' }),
      ]
      const receipt = await publish(store, sent, options)
      assert.deepEqual(
        receipt.map(({ status, eventTypeShortCode, remarks }) => [status, eventTypeShortCode, remarks]),
        [
          ['appended', 'ContactErased', ['restricted']],
          ['appended', 'ContactUpdated', undefined],
          ['appended', 'ContactErased', ['restricted']],
        ],
      )
      assert.deepEqual(
        await texts(store),
        [...Array(5).fill(undefined), undefined, 'other', undefined].with(1, ''),
      )
      assert.deepEqual(await keptTexts(store, 'c'), [...kept, `${canary} 4`, `${canary} 5`])
      // A repeat is a repeat, of before the restriction and since.
      for (const id of ['one', 'three', 'four']) {
        const text = `${canary} ${{ one: 1, three: 3, four: 4 }[id] ?? 0}`
        const again = await publish(store, [draft({ subject: 'c', text, id })], options)
        assert.deepEqual(
          again.map(({ status }) => status),
          ['repeated'],
        )
        const clash = draft({ subject: 'c', text: 'another', id })
        assert.deepEqual(await store.events.append([batch([clash], options)]), [
          { kind: 'idConflict', index: 0, id: uuid(id) },
        ])
      }
      // A nightly file that holds the same again stores nothing.
      const nightly = await publish(store, [draft({ subject: 'c', text: `${canary} 5`, id: 'night' })], {
        ...options,
        unchanged: 'skip',
      })
      assert.equal(nightly[0]?.status, 'unchanged')
      assert.equal((await list(store, options)).length, 8)
      assert.deepEqual(
        (await store.events.preview(batch([draft({ subject: 'c', text: 'x' })], options))).kind,
        'stored',
      )
    })

    it('when lifted, shows it again in its last published form, and every event as it was (P9, D17)', async () => {
      await using store = await storeWithContact(await factory.create())
      const before = await shown(store)
      const { restrictionId } = await restrict(store, 'c')
      await publish(store, [draft({ subject: 'c', text: `${canary} 4`, id: 'four' })], options)
      const { revision } = await headOf(store, contacts)
      await beginLifting(store, restrictionId)
      const reopened = (await shown(store)).at(-1)
      assert.equal(reopened?.eventTypeShortCode, 'ContactCreated')
      assert.equal(reopened?.payload.includes(`${canary} 4`), true)
      assert.equal(await stepAll(store, restrictionId, 2), 2)
      const after = await shown(store)
      assert.deepEqual(after.slice(0, 4), before)
      assert.deepEqual(codes(after.slice(4)), ['ContactErased', 'ContactErased', 'ContactCreated'])
      assert.equal(after[5]?.payload, reopened?.payload)
      assert.deepEqual(await keptTexts(store, 'c'), [])
      assert.deepEqual(
        (await store.erasures.reductions(contacts, revision, 10)).map(
          ({ sequenceNumbers }) => sequenceNumbers,
        ),
        [
          [1, 3],
          [4, 6],
        ],
        'copies of the history are told to read them again',
      )
      assert.equal((await stateOf(store, restrictionId)).state, 'lifted')
      const again = draft({ subject: 'c', text: `${canary} 4` })
      assert.equal((await publish(store, [again], { ...options, unchanged: 'skip' }))[0]?.status, 'unchanged')
      const [next] = await publish(store, [draft({ subject: 'c', text: 'next' })], options)
      assert.deepEqual([next?.eventTypeShortCode, next?.remarks], ['ContactUpdated', undefined])
    })

    it('when lifted, leaves removed what the agency has removed meanwhile, and shows nothing of what was erased before', async () => {
      await using store = await storeWithContact(await factory.create())
      const { restrictionId } = await restrict(store, 'c')
      const removing = draft({ subject: 'c', text: `${canary} 4`, type: 'ContactErased' })
      await publish(store, [removing], options)
      await lift(store, restrictionId)
      const latest = (await shown(store)).at(-1)
      assert.deepEqual(
        [latest?.eventTypeShortCode, latest?.payload.includes(`${canary} 4`)],
        ['ContactErased', true],
      )
      await erase(store, subject('c'), options)
      const second = await restrict(store, 'c')
      await lift(store, second.restrictionId)
      const last = (await shown(store)).at(-1)
      assert.deepEqual([last?.eventTypeShortCode, last?.payload], ['ContactErased', gone])
      const [next] = await publish(store, [draft({ subject: 'c', text: 'new' })], options)
      assert.equal(next?.eventTypeShortCode, 'ContactCreated')
    })

    it('ends with an erasure, which also removes what is kept (D17)', async () => {
      await using store = await storeWithContact(await factory.create())
      const { restrictionId } = await beginRestriction(store, 'c')
      await store.restrictions.step(restrictionId, 1)
      await publish(store, [draft({ subject: 'c', text: `${canary} 4`, id: 'four' })], options)
      const { revision } = await headOf(store, contacts)
      const { erasureId } = await begin(store, subject('c'), options)
      const { state, endedBy } = await stateOf(store, restrictionId)
      assert.deepEqual([state, endedBy], ['erased', 'key:k'])
      assert.deepEqual(await store.restrictions.step(restrictionId, 1), { kind: 'finished' })
      assert.equal(await reduceAll(store, erasureId, 1), 5)
      assert.ok(!(await wholeText(store)).includes(canary))
      assert.deepEqual(await keptTexts(store, 'c'), [])
      // Of what consumers saw only the second was left.
      assert.deepEqual(await store.erasures.reductions(contacts, revision, 10), [
        { revision: revision + 1, sequenceNumbers: [3] },
      ])
      for (const [id, text] of [
        ['one', 1],
        ['four', 4],
      ] as const) {
        const again = draft({ subject: 'c', text: `${canary} ${text}`, id })
        assert.deepEqual(await store.events.append([batch([again], options)]), [
          { kind: 'idConflict', index: 0, id: uuid(id), isGone: true },
        ])
      }
      const [next] = await publish(store, [draft({ subject: 'c', text: 'new' })], options)
      assert.deepEqual([next?.eventTypeShortCode, next?.remarks], ['ContactCreated', undefined])
      assert.equal((await texts(store)).at(-1), 'new')
    })

    it('lets single events be erased, for good, but not the latest that is kept (D17)', async () => {
      await using store = await storeWithContact(await factory.create())
      const { restrictionId } = await restrict(store, 'c')
      const event = (name: string) => ({ kind: 'event', eventId: uuid(name) }) as const
      assert.deepEqual(await store.erasures.begin(erasureOf(event('three'), options)), {
        kind: 'eventIsLatest',
      })
      await erase(store, event('two'), options)
      assert.deepEqual(await keptTexts(store, 'c'), [kept[0], kept[2]])
      await lift(store, restrictionId)
      assert.deepEqual(await texts(store), [kept[0], '', undefined, kept[2], undefined, kept[2]])
    })

    it('may be lifted while it hides, and begun again while it is lifted', async () => {
      await using store = await storeWithContact(await factory.create())
      const first = await beginRestriction(store, 'c')
      await store.restrictions.step(first.restrictionId, 1)
      await beginLifting(store, first.restrictionId)
      assert.deepEqual(await texts(store), [undefined, '', kept[1], undefined, undefined, kept[2]])
      await store.restrictions.step(first.restrictionId, 1)
      const second = await beginRestriction(store, 'c')
      assert.equal((await stateOf(store, first.restrictionId)).state, 'lifted')
      assert.deepEqual(await store.restrictions.step(first.restrictionId, 1), { kind: 'finished' })
      await stepAll(store, second.restrictionId, 1)
      assert.deepEqual(await texts(store), [...Array(7).fill(undefined)].with(1, ''))
      assert.deepEqual(await keptTexts(store, 'c'), [...kept, kept[2]])
      await lift(store, second.restrictionId, 1)
      assert.deepEqual(await texts(store), [
        kept[0],
        '',
        kept[1],
        kept[2],
        undefined,
        kept[2],
        undefined,
        kept[2],
      ])
    })

    it('is begun once, is on record, and is found by its tenant alone', async () => {
      await using store = await storeWithContact(await factory.create())
      const request = restrictionOf('c')
      const first = await store.restrictions.begin(request)
      assert.deepEqual(await store.restrictions.begin(request), first)
      assert.deepEqual(await store.restrictions.begin(restrictionOf('c')), first, 'there is one already')
      assert.equal((await list(store, options)).length, 5)
      assert.ok(first.kind === 'restricted')
      const { restriction } = first
      assert.deepEqual(await store.restrictions.list(tenantA, undefined, 10), [restriction])
      assert.deepEqual(await store.restrictions.list(tenantA, restriction.restrictionId, 10), [])
      assert.deepEqual(await store.restrictions.list(tenantB, undefined, 10), [])
      assert.equal(await store.restrictions.find(tenantB, restriction.restrictionId), undefined)
      const lifting = { tenantId: tenantB, restrictionId: request.restrictionId, actor: 'key:k' } as const
      const foreign = await store.restrictions.lift({ ...lifting, reopeningEventId: uuid('r') })
      assert.deepEqual(foreign, { kind: 'unknownRestriction' })
      const ended = await lift(store, request.restrictionId)
      assert.equal(ended.endedBy, 'key:other')
      assert.deepEqual(await beginLifting(store, request.restrictionId), ended, 'lifted once')
      const rows = await store.audit.read({ first: 'oldest', target: request.restrictionId, limit: 10 })
      assert.ok(rows !== 'unknownRow')
      assert.deepEqual(
        rows.map(({ actor, action, tenant, detail }) => [actor, action, tenant, detail]),
        [
          ['key:k', 'restriction.begun', tenantA, { reason: 'accuracy_contested' }],
          ['key:other', 'restriction.lifted', tenantA, {}],
        ],
      )
    })

    it('begins nothing if there is nothing, or if the tenant is moving (D13)', async () => {
      await using store = await storeWithContact(await factory.create())
      const begun = (name: string, given = {}) => store.restrictions.begin(restrictionOf(name, given))
      assert.deepEqual(await begun('nobody'), { kind: 'unknownTarget' })
      assert.deepEqual(await begun('c', { key: { tenantId: tenantB, feed: 'contact' } }), {
        kind: 'unknownTarget',
      })
      assert.deepEqual(await begun('c', { key: { tenantId: uuid('nobody'), feed: 'contact' } }), {
        kind: 'unknownFeed',
      })
      const { restrictionId } = await beginRestriction(store, 'd')
      await store.moves.change(tenantA, 'open', 'leaving', 'cli:test')
      assert.deepEqual(await begun('c'), { kind: 'tenantMoving' })
      assert.deepEqual(await store.restrictions.step(restrictionId, 1), { kind: 'tenantMoving' })
      const lifting = { tenantId: tenantA, restrictionId, actor: 'key:k' } as const
      assert.deepEqual(await store.restrictions.lift({ ...lifting, reopeningEventId: uuid('r') }), {
        kind: 'tenantMoving',
      })
      assert.equal((await list(store, options)).length, 5)
    })

    it('is in force when every live node has forgotten what it had read (D17)', async () => {
      const time = testClock('2026-03-01T10:00:00Z')
      await using store = await storeWithContact(await factory.create({ clock: time.clock }))
      const node = { nodeId: uuid('node'), place: 'here', pepperIds: [], ignoresProxy: false }
      await store.nodes.announce(node)
      const { restrictionId } = await beginRestriction(store, 'c')
      const acknowledged = (nodeId?: string) => store.restrictions.acknowledge(restrictionId, nodeId)
      assert.equal(await acknowledged(node.nodeId), 'waiting', 'not hidden yet')
      await stepAll(store, restrictionId)
      assert.equal(await acknowledged(), 'waiting')
      const [open] = await store.restrictions.open()
      assert.deepEqual([open?.state, open?.acknowledgedBy], ['hidden', []])
      assert.equal(await acknowledged(node.nodeId), 'restricted')
      assert.deepEqual(await store.restrictions.open(), [])
      const { state, restrictedMs } = await stateOf(store, restrictionId)
      assert.deepEqual([state, restrictedMs], ['restricted', Date.parse('2026-03-01T10:00:00Z')])
    })

    it('does not wait for a node that has been silent for a minute, and for one that only hangs it does (D17)', async () => {
      const time = testClock('2026-03-01T10:00:00Z')
      await using store = await storeWithContact(await factory.create({ clock: time.clock }))
      await store.nodes.announce({ nodeId: uuid('node'), place: 'here', pepperIds: [], ignoresProxy: false })
      const { restrictionId } = await beginRestriction(store, 'c')
      await stepAll(store, restrictionId)
      time.set('2026-03-01T10:00:59.999Z')
      assert.equal(await store.restrictions.acknowledge(restrictionId, undefined), 'waiting')
      time.set('2026-03-01T10:01:00Z')
      assert.equal(await store.restrictions.acknowledge(restrictionId, undefined), 'restricted')
    })

    it('is part of a copy, a move and a backup, in its present state each time (P9)', async () => {
      await using store = await storeWithContact(await factory.create())
      await using copy = await withTenants(await factory.create())
      await using target = await withTenants(await factory.create())
      await target.moves.change(tenantA, 'open', 'arriving one run', 'cli:test')
      const follow = async (): Promise<void> => {
        await transfer(store, copy)
        await moveRound(store, target)
        for (const other of [copy, target]) {
          assert.deepEqual(await shown(other), await shown(store))
          assert.deepEqual(await keptTexts(other, 'c'), await keptTexts(store, 'c'))
          assert.deepEqual(
            await other.restrictions.list(tenantA, undefined, 10),
            await store.restrictions.list(tenantA, undefined, 10),
          )
        }
      }
      await follow()
      const { restrictionId } = await restrict(store, 'c')
      await follow()
      await publish(store, [draft({ subject: 'c', text: `${canary} 4`, id: 'four' })], options)
      await erase(store, { kind: 'event', eventId: uuid('one') }, options)
      await follow()
      await using backup = await factory.copy(store)
      assert.deepEqual(await keptTexts(backup, 'c'), await keptTexts(store, 'c'))
      await transfer(store, copy)
      // The copy goes on by itself: what is published is kept, a repeat is one, and it can be lifted.
      const again = draft({ subject: 'c', text: `${canary} 2`, id: 'two' })
      assert.equal((await publish(copy, [again], options))[0]?.status, 'repeated')
      assert.equal(
        (await publish(copy, [draft({ subject: 'c', text: 'five' })], options))[0]?.eventTypeShortCode,
        'ContactErased',
      )
      await lift(copy, restrictionId)
      assert.equal((await texts(copy)).at(-1), 'five')
      await lift(store, restrictionId)
      await moveRound(store, target)
      assert.deepEqual(await shown(target), await shown(store))
      assert.deepEqual(await keptTexts(target, 'c'), [])
      await erase(store, subject('c'), options)
      await moveRound(store, target)
      assert.ok(!(await wholeText(target)).includes(canary))
    })
  })
}
