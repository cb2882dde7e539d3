import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StoreObserver } from '../../../src/sql/store-observer.ts'
import { draft } from '../support/drafts.ts'
import { located, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

export function observingContract(factory: StoreFactory): void {
  describe('observing the work of an engine', () => {
    it('tells every observer how long writes waited, while it observes, and never of a failure if there was none', async () => {
      await using store = await withTenants(await factory.create())
      const told: string[][] = [[], []]
      const observer = (lines: string[] | undefined): StoreObserver => ({
        waited(purpose, ms) {
          assert.ok(ms >= 0, `${ms} ms`)
          lines?.push(purpose)
        },
        retried: (verb, cause) => lines?.push(`${verb} again: ${cause}`),
        failed: (task, error) => lines?.push(`${task} failed: ${String(error)}`),
        worked: () => undefined,
      })
      const [stopFirst, stopSecond] = told.map((lines) => store.observe(observer(lines)))
      await publish(store, [draft({ subject: 'p' })])
      assert.ok(told[0]?.includes('writing'))
      assert.deepEqual(told[0], told[1])
      stopFirst?.()
      const [first, second] = told.map((lines) => lines.length)
      await publish(store, [draft({ subject: 'q' })])
      assert.equal(told[0]?.length, first)
      assert.ok((told[1]?.length ?? 0) > (second ?? 0))
      stopSecond?.()
      assert.deepEqual(
        told.flat().filter((line) => !/^(reading|writing)$/.test(line)),
        [],
      )
    })

    it('reports how far ahead time is reserved, once a window was answered (P3)', async () => {
      await using store = await withTenants(await factory.create())
      assert.equal(store.work().reservedMs, undefined)
      await publish(store, [draft({ subject: 'p' })])
      await located(store, { from: 1n })
      const { reservedMs } = store.work()
      assert.ok(reservedMs !== undefined && reservedMs > 0 && reservedMs <= 10_001, `${reservedMs} ms`)
    })
  })
}
