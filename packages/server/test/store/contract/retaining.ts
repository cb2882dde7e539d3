import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ticksPerSecond } from '@property-events/protocol'
import type { FeedEvent } from '@property-events/protocol'
import type { StorageEngine } from '../../../src/store/storage.ts'
import type { ThinSpan } from '../../../src/privacy/retention/retention.ts'
import type { StoreRecord } from '../../../src/store/store-records.ts'
import { batch, draft, feedKey, removal, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { erase, subject, wholeText } from '../support/erasing.ts'
import { hold } from '../support/holding.ts'
import { headOf, list, parseEvent, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock, ticks } from '../support/test-clock.ts'

const canary = 'canary-9c02'
const day = 86_400n * ticksPerSecond
const contacts = feedKey(tenantA, 'contact')

function left(name: string, field = 'agent_ref'): string {
  return `{"${field}":"${uuid(name)}","published":false,"thinned":true}`
}

/** What is older than so many days, with the day that began at this time. */
function span(days: number, today: string, key = feedKey()): ThinSpan {
  const supersededBefore = ticks(today)
  return { key, before: supersededBefore - BigInt(days) * day, supersededBefore }
}

async function thinAll(store: StorageEngine, asked: ThinSpan, limit = 100): Promise<number> {
  for (let events = 0; ;) {
    const outcome = await store.retention.thin(asked, limit, 'this node')
    if (outcome.kind !== 'thinned') {
      assert.equal(outcome.kind, 'finished')
      return events
    }
    events += outcome.events
  }
}

/** `p` changes in January, February and March; `q` never. */
async function storeOfMonths(factory: StoreFactory): Promise<StorageEngine> {
  const { clock, set } = testClock('2025-01-01T12:00:00')
  const store = await withTenants(await factory.create({ clock }))
  const words = { subject: 'p', branch: 'b', updateDate: canary, category: 'sales' } as const
  await publish(store, [draft({ ...words, text: `${canary} 1`, id: 'first' }), draft({ subject: 'q' })])
  await publish(store, [draft({ ...words, text: `${canary} 1`, id: 'skipped' })], { unchanged: 'skip' })
  set('2025-02-01T12:00:00')
  await publish(store, [draft({ ...words, text: `${canary} 2`, id: 'second' })])
  set('2025-03-01T12:00:00')
  const present = { ...words, text: 'present', updateDate: 'u', id: 'third' }
  await publish(store, [draft(present)])
  return store
}

function frame(event: FeedEvent): FeedEvent {
  return { ...event, payload: '' }
}

function payloads(events: readonly FeedEvent[]): readonly string[] {
  return events.map(({ payload }) => payload)
}

export function retainingContract(factory: StoreFactory): void {
  describe('retention', () => {
    it('removes payloads of superseded events that are old enough, keeps their other members and every latest, and leaves the revision (D17)', async () => {
      await using store = await storeOfMonths(factory)
      const before = await list(store)
      const { revision, thinned } = await headOf(store)
      assert.equal(await thinAll(store, span(40, '2025-03-02')), 1)
      const once = await list(store)
      assert.deepEqual(payloads(once), [left('p'), ...payloads(before).slice(1)])
      assert.equal(await thinAll(store, span(28, '2025-04-30')), 1)
      const after = await list(store)
      assert.deepEqual(after.map(frame), before.map(frame))
      assert.deepEqual(payloads(after), [left('p'), before[1]?.payload, left('p'), before[3]?.payload])
      const head = await headOf(store)
      assert.deepEqual([head.revision, head.thinned], [revision, thinned + 2])
      for (const event of after) {
        const found = await store.events.readEvent(feedKey(), event.id)
        assert.deepEqual(found && parseEvent(found.json), event)
      }
      assert.ok(!(await wholeText(store)).includes(canary))
      assert.deepEqual(
        await store.erasures.reductions(feedKey(), 0, 10),
        [],
        'copies of the history are not told',
      )
    })

    it('leaves for tomorrow what was superseded today, and finds what is superseded after the walk has passed it (D17)', async () => {
      await using store = await storeOfMonths(factory)
      const present = payloads(await list(store))
      assert.equal(await thinAll(store, span(10, '2025-03-01')), 1, 'the second was superseded that day')
      assert.deepEqual(payloads(await list(store)), [left('p'), ...present.slice(1)])
      assert.equal(await thinAll(store, span(10, '2025-03-01')), 0)
      assert.equal(await thinAll(store, span(10, '2025-03-02')), 1)
      assert.deepEqual(payloads(await list(store)), [left('p'), present[1], left('p'), present[3]])
    })

    it('keeps again what a rule of more days keeps, and removes it when it is older than that (D17)', async () => {
      await using store = await storeOfMonths(factory)
      assert.equal(await thinAll(store, span(1, '2025-02-20')), 1)
      const kept = payloads(await list(store))
      assert.equal(await thinAll(store, span(60, '2025-03-05')), 0, 'the second is of a month ago')
      assert.deepEqual(payloads(await list(store)), kept)
      assert.equal(await thinAll(store, span(60, '2025-04-05')), 1)
      assert.equal(payloads(await list(store))[2], left('p'))
    })

    it('continues where it was, in steps of any size, and counts beforehand what it removes (D17)', async () => {
      const { clock, set } = testClock('2025-01-01T12:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      for (let month = 1; month <= 6; month += 1) {
        set(`2025-0${month}-01T12:00:00`)
        const change = (name: string) => draft({ subject: name, text: `${month}` })
        await publish(store, ['c', 'd', 'e'].map(change), { key: contacts })
      }
      const asked = span(45, '2025-06-02', contacts)
      let counted = 0
      for (let at = await store.retention.countDue(asked, 2); at !== undefined;) {
        counted += at.events
        at = await store.retention.countDue(asked, 2, at.progress)
      }
      assert.equal((await headOf(store, contacts)).thinned, 0, 'counting changes nothing')
      assert.deepEqual(await store.retention.thin(asked, 2, 'this node'), { kind: 'thinned', events: 2 })
      assert.equal(await thinAll(store, asked, 5), counted - 2)
      const texts = payloads(await list(store, { key: contacts }))
      assert.deepEqual(
        texts.slice(0, 3),
        ['c', 'd', 'e'].map((name) => left(name, 'contact_ref')),
      )
      assert.equal(texts.filter((text) => text.endsWith('"thinned":true}')).length, counted)
      assert.equal(counted, 12, 'those of January to April')
    })

    it('keeps ids taken, and no content can be found by a hash any more (D14, D17)', async () => {
      await using store = await storeOfMonths(factory)
      await thinAll(store, span(28, '2025-04-30'))
      for (const id of ['first', 'skipped']) {
        const words = { subject: 'p', branch: 'b', updateDate: canary, category: 'sales' } as const
        const [outcome] = await store.events.append([batch([draft({ ...words, text: `${canary} 1`, id })])])
        assert.deepEqual(outcome, { kind: 'idConflict', index: 0, id: uuid(id), isGone: true })
      }
    })

    it('has no effect on what is published after it: removals, spelling and categories build on the latest (D15, D26)', async () => {
      await using store = await storeOfMonths(factory)
      await thinAll(store, span(28, '2025-04-30'))
      const [removed] = await publish(store, [removal({ subject: 'p' })])
      assert.equal(removed?.eventTypeShortCode, 'PropertyUnpublished')
      assert.equal(JSON.parse((await list(store)).at(-1)?.payload ?? '{}').text, 'present')
    })

    it('leaves what was erased unchanged, and what is thinned can be erased (D17)', async () => {
      await using store = await storeOfMonths(factory)
      await thinAll(store, span(40, '2025-03-02'))
      await erase(store, subject('p'))
      assert.equal(await thinAll(store, span(1, '2025-05-01')), 0)
      const events = (await list(store)).filter(({ transactionId }) => transactionId === uuid('p'))
      assert.ok(events.length === 4 && events.every(({ payload }) => payload.endsWith('"erased":true}')))
    })

    it('skips what is on hold, and comes back to it on a later day, when no hold protects it any more (D17)', async () => {
      await using store = await storeOfMonths(factory)
      const { holdId } = await hold(store, 'p')
      const before = payloads(await list(store))
      assert.equal((await store.retention.countDue(span(28, '2025-04-01'), 10))?.events, 0)
      assert.equal(await thinAll(store, span(28, '2025-04-01'), 1), 0)
      assert.equal(await thinAll(store, span(28, '2025-04-02'), 1), 0)
      await store.holds.end(tenantA, holdId, 'cli:test')
      assert.equal(await thinAll(store, span(28, '2025-04-02'), 1), 0, 'once a day')
      assert.deepEqual(payloads(await list(store)), before)
      assert.equal((await store.retention.countDue(span(28, '2025-04-03'), 10))?.events, 2)
      assert.equal(await thinAll(store, span(28, '2025-04-03'), 1), 2)
      assert.deepEqual(payloads(await list(store)), [left('p'), before[1], left('p'), before[3]])
      assert.equal(await thinAll(store, span(28, '2025-04-04'), 1), 0)
    })

    it('keeps what a hold keeps of a subject that is superseded after it was passed (D17)', async () => {
      await using store = await storeOfMonths(factory)
      assert.equal(await thinAll(store, span(40, '2025-03-01')), 1, 'the second is too young')
      assert.equal(await thinAll(store, span(10, '2025-03-01')), 0, 'and was superseded that day')
      const { holdId } = await hold(store, 'p')
      assert.equal(await thinAll(store, span(10, '2025-03-02')), 0)
      await store.holds.end(tenantA, holdId, 'cli:test')
      assert.equal(await thinAll(store, span(10, '2025-03-03')), 1)
    })

    it('is one node’s at a time, until it ends or is silent (D17)', async () => {
      const { clock } = testClock('2025-06-01')
      await using store = await withTenants(await factory.create({ clock }))
      for (const text of ['1', '2', '3']) await publish(store, [draft({ subject: 'p', text })])
      const asked = span(0, '2025-06-02')
      const thin = (nodeId: string) => store.retention.thin(asked, 1, nodeId)
      assert.equal((await thin('one')).kind, 'thinned')
      assert.equal((await thin('other')).kind, 'busy')
      assert.equal(await store.retention.takeTurn('other'), false)
      await store.retention.endTurn('other')
      assert.equal((await thin('other')).kind, 'busy')
      await store.retention.endTurn('one')
      assert.equal(await store.retention.takeTurn('other'), true)
      assert.equal((await thin('one')).kind, 'busy')
      Atomics.add(clock, 0, 11n * ticksPerSecond)
      assert.equal((await thin('one')).kind, 'thinned')
      assert.equal((await thin('one')).kind, 'thinned')
      assert.equal((await thin('other')).kind, 'finished', 'one that has nothing to do need not wait')
    })

    it('leaves a tenant alone that is being moved, and hands over what it removed (D17)', async () => {
      await using source = await storeOfMonths(factory)
      await using target = await withTenants(await factory.create())
      const copy = async (): Promise<void> => {
        const position = (await headOf(target)).position
        const held = ({ feed }: { readonly feed: string }) => {
          return { position: feed === 'property' ? position : 0, skippedUntil: 0n }
        }
        await source.moves.exportTenant(tenantA, held, async (records: readonly StoreRecord[]) => {
          await target.importRecords(records, 'cli:test')
        })
      }
      await copy()
      assert.ok((await wholeText(target)).includes(canary))
      await thinAll(source, span(28, '2025-04-30'))
      await source.moves.change(tenantA, 'open', 'leaving', 'cli:test')
      assert.deepEqual(await source.retention.thin(span(0, '2025-05-30'), 1, 'this node'), {
        kind: 'tenantMoving',
      })
      await copy()
      await copy()
      assert.deepEqual(await list(target), await list(source))
      assert.equal((await headOf(target)).thinned, (await headOf(source)).thinned)
      assert.ok(!(await wholeText(target)).includes(canary))
    })

    it('is carried by a backup, with the rules of tenants (D17)', async () => {
      await using store = await storeOfMonths(factory)
      await store.retention.setRule(tenantA, 'retain-contacts', 400, 'cli:test')
      await thinAll(store, span(40, '2025-03-02'))
      await using restored = await factory.copy(store)
      assert.deepEqual(await list(restored), await list(store))
      assert.deepEqual(await restored.retention.rules(), await store.retention.rules())
      assert.equal(await thinAll(restored, span(28, '2025-04-30')), 1)
    })

    it('keeps tenants’ rules, each change with its row in the audit, and none for a change that is none (D17)', async () => {
      await using store = await withTenants(await factory.create())
      const { retention } = store
      assert.deepEqual(await retention.rules(), [])
      assert.equal(await retention.setRule(uuid('nobody'), 'retain-contacts', 1, 'cli:me'), 'unknownTenant')
      assert.equal(await retention.setRule(tenantA, 'retain-contacts', 400, 'cli:me'), 'done')
      assert.equal(await retention.setRule(tenantA, 'retain-contacts', 400, 'cli:me'), 'done')
      await retention.setRule(tenantA, 'retain-contacts', 0, 'cli:me')
      await retention.setRule(tenantB, 'retain-properties', 30, 'cli:me')
      await retention.setRule(tenantB, 'retain-contacts', undefined, 'cli:me')
      const rules = [
        { tenantId: tenantA, rule: 'retain-contacts', days: 0 },
        { tenantId: tenantB, rule: 'retain-properties', days: 30 },
      ]
      const byTenant = (a: { tenantId: string }, b: { tenantId: string }) =>
        a.tenantId < b.tenantId ? -1 : 1
      assert.deepEqual(await retention.rules(), rules.toSorted(byTenant))
      assert.deepEqual(await retention.rules(tenantB), rules.slice(1))
      assert.deepEqual(await retention.rules(uuid('nobody')), [])
      await retention.setRule(tenantA, 'retain-contacts', undefined, 'cli:me')
      assert.deepEqual(await retention.rules(), rules.slice(1))
      const rows = await store.audit.read({ first: 'oldest', action: 'retention.set', limit: 10 })
      assert.ok(rows !== 'unknownRow')
      assert.deepEqual(
        rows.map(({ tenant, target, actor, detail }) => [tenant, target, actor, detail]),
        [
          [tenantA, tenantA, 'cli:me', { rule: 'retain-contacts', days: 400 }],
          [tenantA, tenantA, 'cli:me', { rule: 'retain-contacts', days: 0 }],
          [tenantB, tenantB, 'cli:me', { rule: 'retain-properties', days: 30 }],
          [tenantA, tenantA, 'cli:me', { rule: 'retain-contacts', days: null }],
        ],
      )
    })
  })
}
