import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { collectAtRest } from '../src/collect-at-rest.ts'
import { until } from './support/until.ts'

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
    lookMs: 50,
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
