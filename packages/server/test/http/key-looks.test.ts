/** What waiting costs: a key is looked at for all its requests together, and they end with it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createKeyLooks } from '../../src/http/key-looks.ts'
import type { KeyVerdict } from '../../src/keys/index.ts'
import { until } from '../support/until.ts'

const unknown: KeyVerdict = { kind: 'unknown' }

function looksAt(answer: (keyId: string) => Promise<KeyVerdict>) {
  const asked: string[] = []
  let stopping = false
  const look = (keyId: string): Promise<KeyVerdict> => {
    asked.push(keyId)
    return answer(keyId)
  }
  const looks = createKeyLooks({ look }, () => stopping)
  return { asked, looks, stop: () => (stopping = true) }
}

describe('the looks at keys of requests that wait', () => {
  it('are one for all requests of a key, and none when nobody waits (D11)', async () => {
    const { asked, looks } = looksAt(() => Promise.resolve(unknown))
    const { signal } = new AbortController()
    const watched = Array.from({ length: 100 }, (_, index) =>
      looks.watch(index % 2 === 0 ? 'even' : 'odd', () => false, signal),
    )
    await until(() => asked.length >= 4)
    assert.deepEqual(asked.slice(0, 4).sort(), ['even', 'even', 'odd', 'odd'])
    for (const { end } of watched) end()
    await until(async () => {
      const before = asked.length
      await new Promise((resolve) => setTimeout(resolve, 700))
      return asked.length === before
    })
    assert.ok(watched.every((one) => !one.signal.aborted))
  })

  it('end those requests whose check says so, and those whose reader has gone (D11)', async () => {
    const { looks } = looksAt(() => Promise.resolve(unknown))
    const reader = new AbortController()
    const { signal } = new AbortController()
    const refused = looks.watch('a', ({ kind }) => kind === 'unknown', signal)
    const granted = looks.watch('a', () => false, signal)
    const left = looks.watch('a', () => false, reader.signal)
    await until(() => refused.signal.aborted)
    assert.equal(granted.signal.aborted, false)
    reader.abort()
    assert.equal(left.signal.aborted, true)
    for (const { end } of [refused, granted, left]) end()
  })

  it('end all requests when the store cannot be asked, and when the service stops (D11)', async () => {
    const away = looksAt(() => Promise.reject(new Error('away')))
    const { signal } = new AbortController()
    const one = away.looks.watch('a', () => false, signal)
    const here = looksAt(() => Promise.resolve(unknown))
    const other = here.looks.watch('a', () => false, signal)
    here.stop()
    await until(() => one.signal.aborted && other.signal.aborted)
    one.end()
    other.end()
  })
})
