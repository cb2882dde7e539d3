import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../../../server/test/support/until.ts'
import { runRoundRobin } from '../../src/sync/round-robin.ts'

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `tenant-${index}`)

describe('turns of many tenants', () => {
  it('come to all ten thousand, never more at a time than were asked for', async () => {
    const seen = new Set<string>()
    let running = 0
    let most = 0
    await runRoundRobin({
      names: namesOf(10_000),
      concurrency: 8,
      follow: false,
      signal: new AbortController().signal,
      onFailure: () => undefined,
      async task(name) {
        most = Math.max(most, (running += 1))
        await Promise.resolve()
        running -= 1
        seen.add(name)
        return true
      },
    })
    assert.equal(seen.size, 10_000)
    assert.ok(most <= 8, `${most} at a time`)
  })

  it('go on for everyone else while one fails again and again, and another never answers', async () => {
    const controller = new AbortController()
    const turns = new Map<string, number>()
    const failures: number[] = []
    const running = runRoundRobin({
      names: ['broken', 'silent', ...namesOf(20)],
      concurrency: 2,
      follow: true,
      signal: controller.signal,
      random: () => 0,
      // Waits of seconds are over at once.
      now: (() => {
        let ms = 0
        return () => (ms += 50)
      })(),
      onFailure(name, _, count) {
        assert.equal(name, 'broken')
        failures.push(count)
        return 1_000
      },
      async task(name) {
        turns.set(name, (turns.get(name) ?? 0) + 1)
        await new Promise((resolve) => setImmediate(resolve))
        if (name === 'broken') throw new Error('key revoked')
        if (name === 'silent') {
          await new Promise((resolve) => controller.signal.addEventListener('abort', resolve))
        }
        return true
      },
    })
    const isDone = () => failures.length >= 3 && namesOf(20).every((name) => (turns.get(name) ?? 0) >= 3)
    await until(isDone, { what: 'three turns of each' })
    controller.abort()
    await running
    assert.equal(turns.get('silent'), 1)
    assert.deepEqual(failures.slice(0, 3), [1, 2, 3])
  })

  it('come no earlier than a failure has asked for, whatever chance says', async () => {
    const controller = new AbortController()
    const begunMs: number[] = []
    await runRoundRobin({
      names: ['busy'],
      concurrency: 1,
      follow: true,
      signal: controller.signal,
      random: () => 0,
      onFailure: () => 1_000,
      async task() {
        begunMs.push(performance.now())
        if (begunMs.length === 2) controller.abort()
        throw new Error('429')
      },
    })
    const [first = 0, second = 0] = begunMs
    assert.ok(second - first >= 1_000, `${second - first} ms`)
  })

  it('end at once when the signal comes, after those that are under way', async () => {
    const controller = new AbortController()
    let ended = 0
    const running = runRoundRobin({
      names: namesOf(3),
      concurrency: 3,
      follow: true,
      signal: controller.signal,
      onFailure: () => undefined,
      async task() {
        await delay(5)
        controller.abort()
        ended += 1
        return false
      },
    })
    await running
    assert.equal(ended, 3)
  })
})
