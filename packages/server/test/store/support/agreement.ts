/** Two engines, on random histories: nobody can tell them apart (P12). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { feedNames, millisecondsOfTicks, ticksPerSecond } from '@property-events/protocol'
import type { FeedEvent } from '@property-events/protocol'
import { branchViewName, viewNames } from '../../../src/events/branches/branch-view.ts'
import { isErasedPayload, isReducedPayload } from '../../../src/events/append/reduced-event.ts'
import type { ErasureTarget } from '../../../src/privacy/erasure/erasure.ts'
import type { FeedCount } from '../../../src/events/event-log.ts'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { FeedView } from '../../../src/events/branches/branch-view.ts'
import type { Restriction } from '../../../src/privacy/restriction/restriction.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import type { ThinOutcome } from '../../../src/privacy/retention/retention.ts'
import { uuid } from './drafts.ts'
import { erasureOf } from './erasing.ts'
import { holdOn } from './holding.ts'
import { restrictionOf } from './restricting.ts'
import { keyOfBranches } from './branch-views.ts'
import { actions, batchOf, branchSets, subjects } from './histories.ts'
import type { Action } from './histories.ts'
import { list, parseEvent } from './read-back.ts'
import { isOver } from '../../../src/privacy/restriction/restriction.ts'
import { retentionModel } from './retention-model.ts'
import type { SubjectHistory } from './retention-model.ts'
import type { StoreFactory } from './stores.ts'
import { testClock, ticks } from './test-clock.ts'

function sortedCounts(counts: readonly FeedCount[]): readonly FeedCount[] {
  return counts.toSorted((a, b) => a.key.feed.localeCompare(b.key.feed))
}

/** The first of the factories is the one that the other has to agree with. */
export function enginesAgree(
  name: string,
  factories: readonly [StoreFactory, StoreFactory],
  numRuns: number,
): void {
  describe(name, () => {
    const { clock } = testClock('2025-01-31T12:00:00')
    let stores: readonly StorageEngine[] = []
    let runs = 0
    let erasures = 0
    let holds = 0
    let restrictions = 0
    const keys = new Map<string, readonly string[]>()
    const model = retentionModel()

    before(async () => {
      stores = await Promise.all(factories.map((factory) => factory.create({ clock })))
    })
    after(async () => {
      for (const store of stores) await store.close()
      for (const factory of factories) await factory.clean()
    })

    /** Does the same with both, and returns the answer they agree on. */
    async function agree<T>(ask: (store: StorageEngine) => Promise<T>): Promise<T> {
      const [reference, other] = await Promise.all(stores.map(ask))
      assert.ok(reference !== undefined || other === undefined)
      assert.deepEqual(other, reference)
      return reference as T
    }

    async function erase(action: Action & { kind: 'erase' }, key: FeedKey): Promise<void> {
      const { target, steps, limit } = action
      const events = await agree((store) => list(store, { key }))
      const asked: ErasureTarget =
        typeof target === 'string'
          ? { kind: 'subject', subjectId: uuid(target) }
          : { kind: 'event', eventId: events[target]?.id ?? uuid('none') }
      await agree((store) => store.erasures.count(key, asked))
      erasures += 1
      const ids = { erasureId: uuid(`erasure ${erasures}`), closingEventId: uuid(`closing ${erasures}`) }
      const request = erasureOf(asked, { key, ...ids })
      // What a hold that lasts keeps is refused, and nothing else for its sake.
      const held =
        asked.kind === 'subject' && (await agree((store) => store.holds.active(key, asked.subjectId)))
      const begun = await agree((store) => store.erasures.begin(request))
      if (asked.kind === 'subject' && begun.kind !== 'unknownTarget') {
        assert.equal(begun.kind === 'onHold', held !== undefined)
      }
      for (let step = 0; step < steps; step += 1) {
        const open = await agree((store) => store.erasures.open())
        for (const { erasureId } of open) await agree((store) => store.erasures.reduce(erasureId, limit))
        for (const { erasureId } of open)
          await agree((store) => store.erasures.acknowledge(erasureId, undefined))
      }
    }

    async function restrict(action: Action & { kind: 'restrict' }, tenantId: string): Promise<void> {
      const { subject, steps, limit } = action
      const key: FeedKey = { tenantId, feed: 'contact' }
      restrictions += 1
      const [restrictionId, eventId] = [uuid(`restriction ${restrictions}`), uuid(`event ${restrictions}`)]
      if (typeof subject === 'string') {
        const request = restrictionOf(subject, { key, restrictionId, closingEventId: eventId })
        await agree((store) => store.restrictions.begin(request))
      } else {
        const all = await agree((store) => store.restrictions.list(tenantId, undefined, 100))
        const asked = { tenantId, restrictionId: all[subject]?.restrictionId ?? restrictionId }
        const lifting = { ...asked, actor: 'cli:test', reopeningEventId: eventId } as const
        await agree((store) => store.restrictions.lift(lifting))
      }
      for (let step = 0; step < steps; step += 1) {
        const open = await agree((store) => store.restrictions.open())
        for (const one of open) await agree((store) => store.restrictions.step(one.restrictionId, limit))
        for (const one of open)
          await agree((store) => store.restrictions.acknowledge(one.restrictionId, undefined))
      }
    }

    async function historyOf(key: FeedKey, subjectId: string): Promise<SubjectHistory> {
      const numbers = await agree(async (store) => {
        const events = await store.events.readSubject({ key, subjectId, after: 0, limit: 10_000 })
        return events.map(({ sequenceNumber }) => sequenceNumber)
      })
      const hold = await agree((store) => store.holds.active(key, subjectId))
      const restricted =
        key.feed === 'contact' &&
        (await agree((store) => store.restrictions.list(key.tenantId, undefined, 1_000))).some(
          (one) => one.subjectId === subjectId && !isOver(one),
        )
      return { numbers, isHeld: hold !== undefined || restricted }
    }

    async function grantBranches(action: Action & { kind: 'branches' }, tenantId: string): Promise<void> {
      const branches = branchSets[action.set] ?? []
      const name = `${tenantId} ${action.set}`
      const held = keys.get(name) ?? []
      if (action.granted) {
        const keyId = `${name} ${runs} ${held.length}`
        await agree((store) => store.keys.insertKey(keyOfBranches(keyId, branches, { tenantId }), 'cli:test'))
        keys.set(name, [...held, keyId])
      } else {
        for (const keyId of held) await agree((store) => store.keys.revokeKey(keyId, 1, 'cli:test'))
      }
      // Each store takes its own steps: what one has to drop the other may not keep.
      for (const store of stores) {
        for (let step = 0; step < action.steps; step += 1) {
          for (const set of await store.branchViews.due()) await store.branchViews.step(set, action.limit)
        }
      }
    }

    /** The views that are ready, where those of both stores are. Steps are of the same size, and not of the same number. */
    async function branchViewsOf({ tenantId, feed }: FeedKey): Promise<readonly FeedView[]> {
      if (feed === 'contact') return []
      const ready = await Promise.all(
        stores.map(async (store) =>
          (await store.branchViews.sets()).filter(({ state }) => state === 'ready'),
        ),
      )
      return branchSets
        .filter((branches) =>
          ready.every((sets) =>
            sets.some((one) => one.tenantId === tenantId && isDeepStrictEqual(one.branches, branches)),
          ),
        )
        .flatMap((branches) => viewNames.map((name) => branchViewName(branches, name)))
    }

    async function thin(action: Action & { kind: 'thin' }, key: FeedKey): Promise<void> {
      const now = Atomics.load(clock, 0)
      const before = now - BigInt(action.olderSeconds) * ticksPerSecond
      const supersededBefore = now - BigInt(action.supersededSeconds) * ticksPerSecond
      const span = { key, before, supersededBefore }
      const { limit } = action
      for (let outcome: ThinOutcome | undefined; outcome?.kind !== 'finished';) {
        const counted = await agree((store) => store.retention.countDue(span, limit))
        outcome = await agree((store) => store.retention.thin(span, limit, 'one node'))
        assert.deepEqual(
          outcome,
          counted === undefined ? { kind: 'finished' } : { kind: 'thinned', events: counted.events },
        )
      }
      const events = await agree((store) => list(store, { key }))
      model.thin(span, events, await Promise.all(subjects.map((name) => historyOf(key, uuid(name)))))
    }

    async function play(action: Action, tenants: readonly [string, string]): Promise<void> {
      switch (action.kind) {
        case 'append': {
          const groups = action.groups.map((group) => group.map((words) => batchOf(words, tenants)))
          await agree((store) => Promise.all(groups.map((batches) => store.events.append(batches))))
          return
        }
        case 'preview': {
          const asked = batchOf(action.request, tenants)
          await agree((store) => store.events.preview(asked))
          return
        }
        case 'clock':
          Atomics.add(clock, 0, BigInt(action.seconds) * ticksPerSecond)
          return
        case 'branches':
          await grantBranches(action, tenants[0])
          return
        case 'window': {
          const { fromSeconds, view } = action
          const now = Atomics.load(clock, 0)
          const from = fromSeconds === undefined ? 0n : now + BigInt(fromSeconds) * ticksPerSecond
          await agree(async (store) => {
            const found = await store.events.locate({
              key: { tenantId: tenants[0], feed: 'property' },
              view,
              from,
            })
            return found && { ...found, head: { ...found.head, epoch: '' } }
          })
          return
        }
        case 'erase':
          await erase(action, { tenantId: tenants[0], feed: action.feed })
          return
        case 'restrict':
          await restrict(action, tenants[0])
          return
        case 'hold': {
          holds += 1
          const untilMs = millisecondsOfTicks(Atomics.load(clock, 0)) + action.seconds * 1_000
          const key = { tenantId: tenants[0], feed: action.feed }
          const request = holdOn(action.subject, { key, holdId: uuid(`hold ${holds}`), untilMs })
          await agree((store) => store.holds.add(request))
          return
        }
        case 'endHold': {
          const all = await agree((store) => store.holds.list(tenants[0], undefined, 100))
          const holdId = all[action.nth]?.holdId ?? uuid('none')
          await agree((store) => store.holds.end(tenants[0], holdId, 'cli:test'))
          await agree((store) => store.holds.reportExpired())
          return
        }
        case 'thin':
          await thin(action, { tenantId: tenants[0], feed: action.feed })
          return
        case 'epoch':
          await agree((store) => store.startEpoch(action.continueAfter, 'cli:test'))
      }
    }

    /** Every list, window and event of a feed, by every page size. */
    async function compare(key: FeedKey): Promise<void> {
      const all = await agree((store) => list(store, { key }))
      for (const limit of [1, 3, 100]) await agree((store) => store.erasures.reductions(key, 0, limit))
      const revision = await agree(async (store) => (await store.events.head(key))?.revision)
      const told = await agree((store) => store.erasures.reductions(key, 0, 10_000))
      // What was told is what was reduced, each event once, but for the events that closed a subject.
      const toldNumbers = told.flatMap(({ sequenceNumbers }) => sequenceNumbers)
      const begun = await agree((store) => store.erasures.list(key.tenantId, undefined, 1_000))
      const closings = new Set(begun.flatMap(({ closing }) => closing?.eventId ?? []))
      // A removal goes on from the latest payload, and so from the one that closed an erased subject: there was no other to take.
      const isRemovalOfErased = ({ transactionId, sequenceNumber }: FeedEvent): boolean =>
        begun.some(
          ({ target, closing }) =>
            target.kind === 'subject' &&
            target.subjectId === transactionId &&
            closing !== undefined &&
            closing.sequenceNumber < sequenceNumber,
        ) && !toldNumbers.includes(sequenceNumber)
      const gone = all.filter(({ payload }) => isErasedPayload(payload))
      const restricted = await agree((store) => store.restrictions.list(key.tenantId, undefined, 1_000))
      // What a restriction has hidden may be shown again.
      if (key.feed === 'property' || restricted.length === 0) {
        assert.deepEqual(
          toldNumbers.toSorted((a, b) => a - b),
          gone
            .filter((event) => !closings.has(event.id) && !isRemovalOfErased(event))
            .map(({ sequenceNumber }) => sequenceNumber),
        )
      } else await compareRestricted(key, restricted)
      assert.equal(revision, told.at(-1)?.revision ?? 0)
      await compareErased(key, all)
      compareThinned(key, all)
      await agree((store) => store.events.counts(key.tenantId).then(sortedCounts))
      const times = all.slice(0, 5).map(({ createdDate }) => ticks(createdDate))
      for (const view of viewNames) {
        await agree((store) => store.events.tally({ key, view, times }))
        await agree(async (store) => {
          const found = await store.events.readNewest({ key, view, before: 9, limit: 5 })
          return found.map(({ json, ...place }) => ({ ...place, json: Buffer.from(json).toString() }))
        })
      }
      for (const view of [...viewNames, ...(await branchViewsOf(key))]) {
        const whole = await agree((store) => list(store, { key, view }))
        for (const pageSize of [1, 7, 100]) {
          assert.deepEqual(await agree((store) => list(store, { key, view }, pageSize)), whole)
        }
        for (const bound of all.slice(0, 5)) {
          const at = ticks(bound.createdDate)
          const to = { key, view, to: at }
          const from = { key, view, from: at, to: at + ticksPerSecond }
          const before = await agree((store) => list(store, to))
          assert.deepEqual(
            before,
            whole.filter((event) => event.createdDate < bound.createdDate),
          )
          await agree((store) => list(store, from))
        }
        for (const latestOnly of [false, true]) {
          const after = all.at(2)?.sequenceNumber ?? 0
          await agree(async (store) => {
            const events = await store.events.readAfter({ key, view, after, limit: 5, latestOnly })
            return events.map((event) => Buffer.from(event.json).toString())
          })
        }
      }
      for (const { id } of all) {
        await agree(async (store) => {
          const event = await store.events.readEvent(key, id)
          return event && Buffer.from(event.json).toString()
        })
        await agree(async (store) => store.events.positionOf(key, id))
      }
    }

    /** Of a contact whose restriction is in force nothing is shown; what is kept is the same, and nothing where it is lifted. */
    async function compareRestricted(key: FeedKey, all: readonly Restriction[]): Promise<void> {
      for (const { subjectId } of all) {
        const query = { key, subjectId, after: 0, limit: 10_000 }
        const kept = await agree(async (store) =>
          (await store.restrictions.kept(query)).map(({ json }) => Buffer.from(json).toString()),
        )
        const states = all.filter((one) => one.subjectId === subjectId).map(({ state }) => state)
        if (states.every((state) => state === 'lifted')) assert.deepEqual(kept, [])
        if (!states.includes('hidden') && !states.includes('restricted')) continue
        const shown = await agree(async (store) =>
          (await store.events.readSubject(query)).map(({ json }) => parseEvent(json).payload),
        )
        assert.ok(shown.every(isReducedPayload))
      }
    }

    /** Retention has taken what the rule says, and nothing else; the rest is full, unless it was erased. */
    function compareThinned(key: FeedKey, all: readonly FeedEvent[]): void {
      const { may, must } = model.thinned(key)
      const numbersOf = (events: readonly FeedEvent[]) => events.map(({ sequenceNumber }) => sequenceNumber)
      const thinned = all.filter(({ payload }) => isReducedPayload(payload) && !isErasedPayload(payload))
      const tooMuch = thinned.filter(({ sequenceNumber }) => !may.has(sequenceNumber))
      assert.deepEqual(numbersOf(tooMuch), [], 'nothing else was thinned')
      const kept = all.filter(({ payload }) => !isReducedPayload(payload))
      assert.deepEqual(numbersOf(kept.filter(({ sequenceNumber }) => must.has(sequenceNumber))), [])
    }

    /** Of a subject whose erasure has ended, nothing that was published before it is there. */
    async function compareErased(key: FeedKey, all: readonly FeedEvent[]): Promise<void> {
      const done = await agree((store) => store.erasures.list(key.tenantId, undefined, 1_000))
      for (const { target, closing, state, key: of } of done) {
        if (of.feed !== key.feed || closing === undefined || target.kind !== 'subject') continue
        const history = await agree(async (store) => {
          const query = { key, subjectId: target.subjectId, after: 0, limit: 10_000 }
          return (await store.events.readSubject(query)).map(({ sequenceNumber }) => sequenceNumber)
        })
        const ids = new Set(history.filter((number) => number <= closing.sequenceNumber))
        const kept = all.filter((event) => ids.has(event.sequenceNumber) && !isErasedPayload(event.payload))
        if (state !== 'reducing') assert.deepEqual(kept, [])
      }
    }

    it('agree on every outcome, list, window and event of random histories (P12, P4)', async () => {
      await fc.assert(
        fc.asyncProperty(actions(), async (history) => {
          runs += 1
          const tenants = [uuid(`run ${runs} a`), uuid(`run ${runs} b`)] as const
          for (const tenantId of tenants) {
            await agree((store) =>
              store.tenants.createTenant(
                { tenantId, name: tenantId, createdMs: 0, suspended: false },
                'cli:test',
              ),
            )
          }
          for (const action of history) await play(action, tenants)
          for (const tenantId of tenants) {
            for (const feed of feedNames) await compare({ tenantId, feed })
          }
        }),
        { numRuns },
      )
    })
  })
}
