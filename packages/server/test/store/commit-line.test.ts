/** The two orders of accesses that keep a poll by time and a commit from missing each other, one step at a time (P3). */
import assert from 'node:assert/strict'
import { mock, describe, it } from 'node:test'
import { floorAfter } from '../../src/runtime/clock.ts'
import { commitLine } from '../../src/events/sqlite/commit-line.ts'

describe('a question by time that comes while a commit begins', () => {
  for (const step of ['store', 'load'] as const) {
    it(`has to wait, or the commit's stamps are after it: in between, at each ${step} (P3)`, () => {
      const line = commitLine()
      const reader = commitLine(line.memory)
      const asked: { readonly now: bigint; readonly waits: boolean }[] = []
      let floor = 0n
      const original = Atomics[step]
      let now = 1_000n
      let asking = false
      mock.method(Atomics, step, (...access: unknown[]): unknown => {
        // The question's own accesses pass.
        if (!asking) {
          asking = true
          now += 1_000n
          asked.push({ now, waits: !reader.ask(now) })
          asking = false
        }
        return Reflect.apply(original, Atomics, access)
      })
      try {
        line.commit((given) => (floor = given))
      } finally {
        mock.restoreAll()
      }
      assert.ok(asked.length > 0, 'somebody asked in between')
      for (const { now: moment, waits } of asked) {
        assert.ok(waits || floor >= floorAfter(moment), `asked at ${moment}`)
      }
    })
  }
})
