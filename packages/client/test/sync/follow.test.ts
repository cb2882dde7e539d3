import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AbortedError, createClient, memoryCheckpoint, ServiceError } from '../../src/index.ts'
import { createPlainServer, plainServerOverlapMs } from '../support/plain-server.ts'
import { randomOf } from '../support/random.ts'

/** A following sync whose waits are recorded instead of slept; `onWait` says what happens meanwhile. */
async function followed(
  onWait: (wait: number, server: ReturnType<typeof createPlainServer>) => 'go on' | 'end',
  away: () => Response = () => new Response('', { status: 503 }),
) {
  const server = createPlainServer({ random: randomOf(1), order: 'ascending', orderBy: 'number' })
  server.publish()
  server.settle()
  const ended = new AbortController()
  const waits: number[] = []
  let isDown = false
  const troubles: unknown[] = []
  const seen: number[] = []
  const caughtUpAfter: { waits: number; changes: number }[] = []
  const result = await createClient({
    baseUrl: 'http://feed.example',
    key: 'k',
    fetch: (input, init) => (isDown ? Promise.resolve(away()) : server.fetch(input, init)),
    random: () => 0.5,
    retry: { attempts: 1 },
    sleep: async (ms, signal) => {
      waits.push(ms)
      if (onWait(waits.length, server) === 'end') ended.abort()
      isDown = waits.length === 6
      if (signal?.aborted === true) throw new AbortedError()
    },
  }).sync({
    checkpoint: memoryCheckpoint(),
    apply: ({ changes }) => void seen.push(...changes.map(({ sequenceNumber }) => sequenceNumber)),
    overlapMs: plainServerOverlapMs,
    follow: { minIntervalMs: 100, maxIntervalMs: 1_000 },
    onTrouble: (error) => troubles.push(error),
    onCaughtUp: () => void caughtUpAfter.push({ waits: waits.length, changes: seen.length }),
    signal: ended.signal,
  })
  return { waits, troubles, seen, caughtUpAfter, result }
}

describe('a following sync', () => {
  it('waits longer and longer while nothing comes, and again briefly after something has', async () => {
    const { waits, seen } = await followed((wait, server) => {
      if (wait === 4) {
        server.publish()
        server.settle()
      }
      return wait === 12 ? 'end' : 'go on'
    })
    assert.deepEqual(waits.slice(0, 4), [100, 200, 400, 800])
    // Something came after the fourth wait: brief again. Then the service was away: the longest wait.
    assert.deepEqual(waits.slice(4, 8), [100, 200, 1_000, 1_000])
    assert.deepEqual(seen, [1, 2])
  })

  it('says after each round that the copy is up to date, also when nothing came, and not while the service is away', async () => {
    const { caughtUpAfter } = await followed((wait, server) => {
      if (wait === 2) {
        server.publish()
        server.settle()
      }
      return wait === 8 ? 'end' : 'go on'
    })
    assert.deepEqual(caughtUpAfter, [
      { waits: 0, changes: 1 },
      { waits: 1, changes: 1 },
      { waits: 2, changes: 2 },
      { waits: 3, changes: 2 },
      { waits: 4, changes: 2 },
      { waits: 5, changes: 2 },
      // After the sixth wait the service was away.
      { waits: 7, changes: 2 },
    ])
  })

  it('survives an absence of the service, and reports it', async () => {
    const { troubles, waits, result } = await followed((wait) => (wait === 9 ? 'end' : 'go on'))
    assert.equal(result.ended, 'aborted')
    assert.equal(troubles.length, 1)
    assert.equal(waits.length, 9)
  })

  it('continues once an operator has repaired what waiting does not (PROTOCOL §7)', async () => {
    const problem = { code: 'storage_damaged', detail: 'Restore it.' }
    const { troubles, result } = await followed(
      (wait) => (wait === 8 ? 'end' : 'go on'),
      () => Response.json(problem, { status: 500 }),
    )
    assert.deepEqual(
      troubles.map((error) => error instanceof ServiceError && error.code),
      ['storage_damaged'],
    )
    assert.equal(result.ended, 'aborted')
  })

  it('does not come back before the service said it may, but within about an hour', async () => {
    const refusing = async (seconds: number) => {
      const ended = new AbortController()
      const waits: number[] = []
      let isDown = false
      const server = createPlainServer({ random: randomOf(1), order: 'ascending', orderBy: 'number' })
      const headers = { 'retry-after': String(seconds) }
      await createClient({
        baseUrl: 'http://feed.example',
        key: 'k',
        fetch: (input, init) =>
          isDown ? Promise.resolve(new Response('', { status: 503, headers })) : server.fetch(input, init),
        random: () => 0,
        sleep: async (ms) => {
          waits.push(ms)
          isDown = waits.length === 1
          if (waits.length === 3) ended.abort()
        },
      }).sync({
        checkpoint: memoryCheckpoint(),
        apply: () => undefined,
        follow: { minIntervalMs: 100, maxIntervalMs: 1_000 },
        signal: ended.signal,
      })
      return waits
    }
    const afterTenMinutes = await refusing(600)
    assert.deepEqual(afterTenMinutes, [75, 600_750, 750])
    const afterAWeek = await refusing(604_800)
    assert.deepEqual(afterAWeek, [75, 3_600_750, 750])
  })

  it('ends between two batches when its signal says so', async () => {
    const ended = new AbortController()
    const server = createPlainServer({ random: randomOf(1), order: 'ascending', orderBy: 'number' })
    for (let left = 30; left > 0; left -= 1) server.publish()
    server.settle()
    let batches = 0
    const result = await createClient({ baseUrl: 'http://feed.example', key: 'k', fetch: server.fetch }).sync(
      {
        checkpoint: memoryCheckpoint(),
        apply: () => {
          batches += 1
          if (batches === 2) ended.abort()
        },
        pageSize: 3,
        batchSize: 2,
        follow: true,
        signal: ended.signal,
      },
    )
    assert.equal(result.ended, 'aborted')
    assert.equal(batches, 2)
  })
})
