/** What waiting costs: a key is checked for all its requests together, and they end with it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createKeyRecheck } from '../../src/keys/access/key-recheck.ts'
import type { KeyVerdict } from '../../src/keys/index.ts'

const unknown: KeyVerdict = { kind: 'unknown' }

/** With the time of the test, in which a second passes at once. */
function recheckWith(test: TestContext, answer: (keyId: string) => Promise<KeyVerdict>) {
  test.mock.timers.enable({ apis: ['setTimeout'] })
  const asked: string[] = []
  let stopping = false
  const check = (keyId: string): Promise<KeyVerdict> => {
    asked.push(keyId)
    return answer(keyId)
  }
  const recheck = createKeyRecheck({ check }, () => stopping)
  async function pass(ms: number): Promise<void> {
    test.mock.timers.tick(ms)
    await nextTurn()
  }
  return { asked, recheck, pass, stop: () => (stopping = true) }
}

describe('the checks of keys of requests that wait', () => {
  it('are one for all requests of a key, and none when nobody waits (D11)', async (test) => {
    const { asked, recheck, pass } = recheckWith(test, () => Promise.resolve(unknown))
    const { signal } = new AbortController()
    const watched = Array.from({ length: 100 }, (_, index) =>
      recheck.watch(index % 2 === 0 ? 'even' : 'odd', () => false, signal),
    )
    for (const checked of [2, 4]) {
      await pass(500)
      assert.equal(asked.length, checked)
    }
    assert.deepEqual(asked.toSorted(), ['even', 'even', 'odd', 'odd'])
    for (const { end } of watched) end()
    for (let seconds = 0; seconds < 10; seconds += 1) await pass(1_000)
    assert.equal(asked.length, 4)
    assert.ok(watched.every((one) => !one.signal.aborted))
  })

  it('end those requests whose check fails, and those whose reader has gone (D11)', async (test) => {
    const { recheck, pass } = recheckWith(test, () => Promise.resolve(unknown))
    const reader = new AbortController()
    const { signal } = new AbortController()
    const refused = recheck.watch('a', ({ kind }) => kind === 'unknown', signal)
    const granted = recheck.watch('a', () => false, signal)
    const left = recheck.watch('a', () => false, reader.signal)
    await pass(500)
    assert.deepEqual([refused.signal.aborted, granted.signal.aborted], [true, false])
    reader.abort()
    assert.equal(left.signal.aborted, true)
    for (const { end } of [refused, granted, left]) end()
  })

  it('are none for a reader that has gone, before its request has ended (D11)', async (test) => {
    const { asked, recheck, pass } = recheckWith(test, () => Promise.resolve(unknown))
    const reader = new AbortController()
    recheck.watch('a', () => false, reader.signal)
    assert.equal(recheck.watch('b', () => false, AbortSignal.abort()).signal.aborted, true)
    await pass(500)
    reader.abort()
    for (let seconds = 0; seconds < 10; seconds += 1) await pass(1_000)
    assert.deepEqual(asked, ['a'])
  })

  it('end all requests if the store does not answer, and when the service stops (D11)', async (test) => {
    const { signal } = new AbortController()
    let isAway = true
    const { recheck, pass, stop } = recheckWith(test, () =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve(unknown),
    )
    const one = recheck.watch('a', () => false, signal)
    await pass(500)
    assert.equal(one.signal.aborted, true)
    one.end()
    isAway = false
    const other = recheck.watch('a', () => false, signal)
    await pass(500)
    assert.equal(other.signal.aborted, false)
    stop()
    await pass(500)
    assert.equal(other.signal.aborted, true)
    other.end()
  })
})
