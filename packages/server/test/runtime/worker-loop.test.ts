/** The loop that all work in the background runs in. */
import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { inSteps, startWorker } from '../../src/runtime/worker-loop.ts'
import { until } from '../support/until.ts'

function told() {
  const said: string[] = []
  const report = {
    worked: (task: string) => void said.push(`${task} worked`),
    failed: (task: string, error: unknown) => void said.push(`${task} failed: ${String(error)}`),
  }
  return { said, report }
}

describe('a worker', () => {
  it('takes a step at once, reports each, and goes on after one that failed', async () => {
    const { said, report } = told()
    let steps = 0
    const worker = startWorker({ task: 'erase', report, retryMs: 1 }, async () => {
      steps += 1
      if (steps === 2) throw new Error('the store is down')
      return { waitMs: 1, hasFailed: steps === 3 }
    })
    await until(() => steps >= 4)
    await worker.close()
    assert.deepEqual(said.slice(0, 3), [
      'erase worked',
      'erase failed: Error: the store is down',
      'erase worked',
    ])
  })

  it('ends its step before it is closed, takes none after that, and does not wait out its pause', async () => {
    const { said, report } = told()
    const gate = Promise.withResolvers<void>()
    let steps = 0
    const worker = startWorker({ task: 'retain', report, retryMs: 3_600_000 }, async (signal) => {
      steps += 1
      await gate.promise
      assert.ok(signal.aborted)
      return { waitMs: 3_600_000 }
    })
    await until(() => steps === 1)
    let isClosed = false
    const closing = worker.close().then(() => (isClosed = true))
    await new Promise(setImmediate)
    assert.equal(isClosed, false)
    gate.resolve()
    await closing
    assert.deepEqual([steps, said], [1, ['retain worked']])
  })

  it('waits before its first step if it is asked to, and spreads its waits by a tenth', async () => {
    const { said, report } = told()
    const waits: number[] = []
    const wait = async (ms: number): Promise<void> => void waits.push(ms)
    let steps = 0
    const options = { task: 'add_notes', report, retryMs: 1, firstAfterMs: 1_000, wait } as const
    const worker = startWorker(options, async () => {
      steps += 1
      await new Promise(setImmediate)
      return { waitMs: 2_000 }
    })
    assert.deepEqual([steps, said], [0, []])
    await until(() => steps >= 20)
    await worker.close()
    const [first = 0, ...others] = waits
    assert.ok(first >= 900 && first <= 1_100, `${first}`)
    assert.ok(others.every((ms) => ms >= 1_800 && ms <= 2_200))
    assert.ok(new Set(others).size > 10)
  })

  it('takes no step at all if it is closed during its first wait', async () => {
    const { said, report } = told()
    const options = { task: 'add_notes', report, retryMs: 1, firstAfterMs: 3_600_000 } as const
    await startWorker(options, async () => assert.fail('a step')).close()
    assert.deepEqual(said, [])
  })

  it('reports no failure of a step that its close has interrupted', async () => {
    const { said, report } = told()
    const worker = startWorker({ task: 'unpublish', report, retryMs: 1 }, async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      throw new Error('interrupted')
    })
    await worker.close()
    assert.deepEqual(said, [])
  })
})

describe('work in steps', () => {
  it('halves steps that take long, doubles short ones within limits, and ends when nothing is left', async (test) => {
    let nowMs = 0
    mock.method(performance, 'now', () => nowMs)
    test.after(() => mock.restoreAll())
    const limits: number[] = []
    const took = [5, 5, 5, 30, 30, 30, 30, 15, 0]
    const end = await inSteps(
      { first: 50, fewest: 10, most: 200, pausePerStep: 0 },
      undefined,
      async (limit) => {
        limits.push(limit)
        nowMs += took[limits.length - 1] ?? 0
        return limits.length < took.length ? 'more' : 'done'
      },
    )
    assert.deepEqual([end, limits], ['done', [50, 100, 200, 200, 100, 50, 25, 12, 12]])
  })

  it('stops between two steps when it is asked to', async () => {
    const stop = new AbortController()
    let steps = 0
    const end = await inSteps({ first: 1, fewest: 1, most: 1, pausePerStep: 0 }, stop.signal, async () => {
      steps += 1
      if (steps === 3) stop.abort()
      return 'more'
    })
    assert.deepEqual([end, steps], ['stopped', 3])
  })
})
