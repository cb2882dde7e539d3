import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCommitQueue } from '../../src/feed/commit-queue.ts'
import type { AppendBatch, AppendOutcome, EventDraft } from '../../src/storage/storage.ts'

const tenant = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

function draft(characters = 10): EventDraft {
  const bytes = new Uint8Array(32)
  return {
    id: tenant(1),
    idGiven: false,
    subjectId: tenant(1),
    subjectSpelling: tenant(1),
    transactionId: undefined,
    content: {
      kind: 'payload',
      text: 'x'.repeat(characters),
      hash: bytes,
      published: true,
      branch: undefined,
      impliedCategory: undefined,
      updateDateHash: null,
    },
    eventTypeShortCode: undefined,
    category: undefined,
    contentHash: bytes,
  }
}

function batch(number: number, drafts: readonly EventDraft[] = [draft()]): AppendBatch {
  return { key: { tenantId: tenant(number), feed: 'property' }, drafts, unchanged: 'store' }
}

/** An append whose commits end when the test says so, and which notes what came together. */
function heldAppend() {
  const groups: number[][] = []
  const ends: ((error?: Error) => void)[] = []
  const append = (batches: readonly AppendBatch[]): Promise<readonly AppendOutcome[]> => {
    groups.push(batches.map((entry) => Number(entry.key.tenantId.slice(-12))))
    return new Promise((resolve, reject) => {
      ends.push((error) => {
        if (error !== undefined) reject(error)
        else resolve(batches.map(() => ({ kind: 'stored', events: [] })))
      })
    })
  }
  const endNext = async (error?: Error) => {
    while (ends.length === 0) await new Promise(setImmediate)
    ends.shift()?.(error)
  }
  return { append, groups, endNext }
}

describe('the commit queue', () => {
  it('commits at once when nothing is under way, and gathers what comes meanwhile across feeds (ARCHITECTURE)', async () => {
    const held = heldAppend()
    const queue = createCommitQueue(held)
    const first = queue.submit(batch(1))
    await new Promise(setImmediate)
    const later = [2, 3, 4].map((number) => queue.submit(batch(number)))
    await held.endNext()
    await first
    await held.endNext()
    await Promise.all(later)
    assert.deepEqual(held.groups, [[1], [2, 3, 4]])
  })

  it('cuts a commit at its limits, keeps the order, and lets a batch above them go alone (ARCHITECTURE)', async () => {
    const held = heldAppend()
    const queue = createCommitQueue(held, { maxEvents: 3, maxCharacters: 100, maxWaitingCharacters: 10_000 })
    const events = (count: number, characters = 1) => Array.from({ length: count }, () => draft(characters))
    const all = [
      queue.submit(batch(1, events(2))),
      queue.submit(batch(2, events(2))),
      queue.submit(batch(3, events(1))),
      queue.submit(batch(4, events(9))),
      queue.submit(batch(5, events(1, 99))),
      queue.submit(batch(6, events(1, 99))),
    ]
    for (let count = 0; count < 5; count += 1) await held.endNext()
    await Promise.all(all)
    assert.deepEqual(held.groups, [[1], [2, 3], [4], [5], [6]])
  })

  it('answers overloaded instead of holding more than it may (P11)', async () => {
    const held = heldAppend()
    const queue = createCommitQueue(held, { maxEvents: 10, maxCharacters: 50, maxWaitingCharacters: 50 })
    const first = queue.submit(batch(1, [draft(40)]))
    assert.deepEqual(await queue.submit(batch(2, [draft(40)])), { kind: 'overloaded' })
    await held.endNext()
    assert.equal((await first).kind, 'stored')
  })

  it('tells everybody of a commit that failed, and goes on with the next (P6)', async () => {
    const held = heldAppend()
    const queue = createCommitQueue(held)
    const failed = Promise.allSettled([queue.submit(batch(1)), queue.submit(batch(2))])
    await held.endNext(new Error('disk'))
    assert.deepEqual(
      (await failed).map((result) => result.status),
      ['rejected', 'rejected'],
    )
    const next = queue.submit(batch(3))
    await held.endNext()
    assert.equal((await next).kind, 'stored')
  })

  it('is drained only when nothing waits any more (graceful stop)', async () => {
    const held = heldAppend()
    const queue = createCommitQueue(held, { maxEvents: 1, maxCharacters: 50, maxWaitingCharacters: 500 })
    await queue.drained()
    const all = [1, 2].map((number) => queue.submit(batch(number)))
    let drained = false
    const draining = queue.drained().then(() => (drained = true))
    await held.endNext()
    await all[0]
    await new Promise(setImmediate)
    assert.equal(drained, false)
    await held.endNext()
    await Promise.all([...all, draining])
    assert.equal(drained, true)
  })
})
