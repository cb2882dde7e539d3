/** Counting requests in memory, and adding the counts to the store (PROTOCOL §14). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countUsage } from '../../src/usage/usage-counter.ts'
import { usagePerCommit } from '../../src/usage/usage.ts'
import type { UsageCount } from '../../src/usage/usage.ts'

const hourMs = 3_600_000
const rest = async (): Promise<void> => undefined

function recorder() {
  const statements: (readonly UsageCount[])[] = []
  let failures = 0
  return {
    statements,
    failNext: (times: number) => void (failures = times),
    add: async (counts: readonly UsageCount[]) => {
      if (failures > 0) {
        failures -= 1
        throw new Error('away')
      }
      statements.push(counts)
    },
  }
}

describe('counting requests', () => {
  it('adds at most 500 counts with a statement, in the order of the store, and rests in between (PROTOCOL §14)', async () => {
    const store = recorder()
    const counts = countUsage(store, () => 480_000 * hourMs)
    const keyCount = 2 * usagePerCommit + 20
    for (let asked = 0; asked < 3 * keyCount; asked += 1) {
      counts.count(`key${(asked * 7) % keyCount}`, 'listPropertyEvents', 200, 5)
    }
    let rests = 0
    await counts.flush(async () => void (rests += 1))
    assert.deepEqual(
      store.statements.map(({ length }) => length),
      [usagePerCommit, usagePerCommit, 20],
    )
    assert.equal(rests, 2)
    const all = store.statements.flat()
    const ids = all.map(({ keyId }) => keyId)
    assert.deepEqual(ids, ids.toSorted())
    assert.ok(all.every(({ requests, bytes }) => requests === 3 && bytes === 15))
    await counts.flush(rest)
    assert.equal(store.statements.length, 3, 'nothing was asked since')
  })

  it('gives each request to the hour in which it was answered (PROTOCOL §14)', async () => {
    const store = recorder()
    let nowMs = 480_001 * hourMs - 1
    const counts = countUsage(store, () => nowMs)
    counts.count('key', 'listPropertyEvents', 200, 1)
    nowMs += 1
    counts.count('key', 'listPropertyEvents', 200, 2)
    counts.count('key', 'listPropertyEvents', 304, 0)
    await counts.flush(rest)
    const shown = store.statements.flat().map(({ hour, status, bytes }) => [hour, status, bytes])
    assert.deepEqual(shown, [
      [480_000, 200, 1],
      [480_001, 200, 2],
      [480_001, 304, 0],
    ])
  })

  it('keeps what the store did not accept, and adds it once (PROTOCOL §14)', async () => {
    const store = recorder()
    const counts = countUsage(store, () => 480_000 * hourMs)
    const keyCount = usagePerCommit + 30
    const ask = (): void => {
      for (let n = 0; n < keyCount; n += 1) counts.count(`key${n}`, 'getPropertyEvent', 200, 1)
    }
    ask()
    store.failNext(1)
    await assert.rejects(counts.flush(rest), /away/)
    ask()
    await counts.flush(rest)
    const all = store.statements.flat()
    assert.equal(all.length, keyCount)
    assert.ok(all.every(({ requests }) => requests === 2))
  })
})
