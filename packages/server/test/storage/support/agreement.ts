/** An engine beside the in-memory reference, on random histories: nobody can tell them apart (P12). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { feedNames, ticksPerSecond } from '@property-events/protocol'
import type { ViewName } from '@property-events/protocol'
import type { FeedKey, StorageEngine } from '../../../src/storage/storage.ts'
import { uuid } from './drafts.ts'
import { actions, batchOf } from './histories.ts'
import type { Action } from './histories.ts'
import { list } from './read-back.ts'
import { memoryStores } from './stores.ts'
import type { StoreFactory } from './stores.ts'
import { testClock, ticks } from './test-clock.ts'

const views: readonly ViewName[] = ['all', 'sales', 'lettings']

export function agreesWithReference(name: string, engine: StoreFactory, numRuns: number): void {
  describe(`${name} and the in-memory reference`, () => {
    const { clock } = testClock('2025-01-31T12:00:00')
    const factories = [memoryStores(), engine]
    let stores: readonly StorageEngine[] = []
    let runs = 0

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
        case 'epoch':
          await agree((store) => store.startEpoch(action.continueAfter, 'cli:test'))
      }
    }

    /** Every list, window and event of a feed, by every page size. */
    async function compare(key: FeedKey): Promise<void> {
      const all = await agree((store) => list(store, { key }))
      for (const view of views) {
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

    it('agree on every outcome, list, window and event of random histories (P12, P4)', async () => {
      await fc.assert(
        fc.asyncProperty(actions(), async (history) => {
          runs += 1
          const tenants = [uuid(`run ${runs} a`), uuid(`run ${runs} b`)] as const
          for (const tenantId of tenants) {
            await agree((store) =>
              store.keys.createTenant(
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
