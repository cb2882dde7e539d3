import assert from 'node:assert/strict'
import { it, mock } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { collectAtRest } from '../../src/runtime/memory/thread-memory.ts'
import { until } from '../support/until.ts'

function work(ms: number): void {
  for (const endMs = performance.now() + ms; performance.now() < endMs;) continue
}

it('garbage is collected once after a burst, and not while nothing was done since (P5)', async () => {
  let collections = 0
  let isOver = false
  const told: boolean[] = []
  const stop = collectAtRest({
    collect() {
      collections += 1
      told.push(isOver)
    },
    trim: () => undefined,
    everyMs: 50,
    burstMs: 200,
  })
  for (let part = 0; part < 8; part += 1) {
    work(45)
    await new Promise(setImmediate)
  }
  isOver = true
  await until(() => collections > 0, { what: 'the collection' })
  assert.deepEqual(told, [true])
  await delay(300)
  assert.equal(collections, 1)
  stop()
  work(300)
  await delay(300)
  assert.equal(collections, 1)
})

interface Done {
  /** When, in looks. */
  readonly collected: readonly number[]
  readonly trimmed: readonly number[]
}

/** For a thread that is busy for `shares` of the time between looks. */
function doneFor(shares: readonly number[]): Done {
  mock.timers.enable({ apis: ['setInterval'] })
  const collected: number[] = []
  const trimmed: number[] = []
  let look = 0
  const stop = collectAtRest({
    collect: () => void collected.push(look),
    trim: () => void trimmed.push(look),
    busySince() {
      const share = shares[look] ?? 0
      look += 1
      return { share, activeMs: share * 5_000 }
    },
  })
  mock.timers.tick(5_000 * shares.length)
  stop()
  mock.timers.reset()
  return { collected, trimmed }
}

function collectionsFor(shares: readonly number[]): readonly number[] {
  return doneFor(shares).collected
}

it('a light but steady load is never interrupted by a collection, and keeps its compiled code (P5)', () => {
  for (const share of [0.01, 0.04, 0.06, 0.09, 0.11, 0.15, 0.19, 0.5, 1]) {
    assert.deepEqual(collectionsFor(Array.from({ length: 200 }, () => share)), [], `busy for ${share}`)
  }
  assert.deepEqual(
    collectionsFor(Array.from({ length: 200 }, (_, look) => (look % 3 === 0 ? 0.9 : 0.01))),
    [],
  )
})

it('garbage is collected once a thread has rested for 15 s after each burst, however light the load is then (P5)', () => {
  // Forty requests a second take 4 %, and more where the machine has other work.
  for (const share of [0.01, 0.04, 0.08]) {
    const rest = Array.from({ length: 10 }, () => share)
    assert.deepEqual(collectionsFor([0.5, ...rest, 0.3, 0.3, ...rest]), [4, 16], `busy for ${share}`)
  }
  const rest = Array.from({ length: 10 }, () => 0.04)
  assert.deepEqual(collectionsFor([0.3, ...rest]), [])
})

it('what the C library keeps of a burst is given back at the first two looks that find the thread calm, and after a collection (P5)', () => {
  const calm = Array.from({ length: 8 }, () => 0.15)
  assert.deepEqual(doneFor([0.9, 0.9, 0.9, ...calm]), { collected: [], trimmed: [4, 5] })
  const rest = Array.from({ length: 8 }, () => 0.01)
  assert.deepEqual(doneFor([0.9, ...rest]), { collected: [4], trimmed: [2, 3, 4, 5] })
  // Steady loads of every kind.
  for (const share of [0.01, 0.1, 0.2, 0.21, 0.9]) {
    assert.deepEqual(doneFor(Array.from({ length: 100 }, () => share)).trimmed, [], `busy for ${share}`)
  }
})
