import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { stoppedAfter } from '../../src/consumers/list-consumers.ts'
import type { StoredRead } from '../../src/consumers/consumer.ts'

const nowMs = 1_900_000_000_000
const hourMs = 3_600_000

const read = (words: Partial<StoredRead> = {}): StoredRead => ({
  key: { tenantId: 'a', feed: 'property' },
  keyId: 'k',
  name: 'default',
  view: 'all',
  space: 'ordinals',
  epoch: 'e',
  askedMs: nowMs - hourMs,
  status: 200,
  route: 'list',
  quietMs: undefined,
  ranges: [[1, 25]],
  ...words,
})
const lag = { view: 'all', through: 25, events: 900, sinceMs: nowMs - 3 * hourMs } as const

const stopped = (
  reading: StoredRead,
  { lags = [lag], eventTypes, catalogue = catalogues.default }: Words = {},
) => {
  const consumer = { reading: { eventTypes, current: false }, readings: [reading], keyEnd: undefined }
  return stoppedAfter(consumer, lags, reading, { catalogue, nowMs })
}
interface Words {
  readonly lags?: Parameters<typeof stoppedAfter>[1]
  readonly eventTypes?: 'published-0' | undefined
  readonly catalogue?: typeof catalogues.default
}

describe('a reader that stops at the first event type it does not know', () => {
  it('is named once it asks for the first page alone (D12, D28)', () => {
    assert.equal(stopped(read()), 25)
  })

  it('is not suspected where it knows all numbers, reads on, or has not had the time (D12, D28)', () => {
    assert.equal(stopped(read(), { eventTypes: 'published-0' }), undefined)
    assert.equal(stopped(read(), { catalogue: catalogues['published-0'] }), undefined)
    assert.equal(stopped(read(), { lags: [{ ...lag, events: 0, sinceMs: undefined }] }), undefined)
    assert.equal(stopped(read(), { lags: [{ ...lag, sinceMs: nowMs - hourMs / 2 }] }), undefined)
    assert.equal(stopped(read(), { lags: [lag, { ...lag, view: 'sales' }] }), undefined)
    assert.equal(stopped(read(), { lags: [] }), undefined)
    assert.equal(stopped(read({ askedMs: nowMs - 30_000 })), undefined)
    for (const words of [
      { route: 'run' },
      { status: 304 },
      { ranges: [[1, 1_025]] },
      { ranges: [[76, 100]] },
      {
        ranges: [
          [1, 25],
          [90, 95],
        ],
      },
    ] satisfies readonly Partial<StoredRead>[])
      assert.equal(stopped(read(words)), undefined, JSON.stringify(words))
  })
})
