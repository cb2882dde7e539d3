/** An outage is two lines of the log, whatever fails meanwhile. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { createLogger, StorageFailure } from '../../src/index.ts'
import { createOutage } from '../../src/runtime/log/outage.ts'
import { createOutages } from '../../src/serve/outages.ts'

function logged() {
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  return { lines, log: createLogger({ level: 'warn', destination }) }
}

const away = (text = 'connect ECONNREFUSED') => new StorageFailure('storage_unavailable', new Error(text))

describe('an outage', () => {
  let nowMs = 0
  beforeEach(() => {
    nowMs = 0
    mock.timers.enable({ apis: ['setInterval'] })
  })
  afterEach(() => mock.timers.reset())

  /** A second at a time, as the clock goes. */
  async function pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      nowMs += 1_000
      mock.timers.tick(1_000)
      await Promise.resolve()
      await Promise.resolve()
    }
  }
  const options = (log: ReturnType<typeof logged>['log']) => ({
    name: 'store',
    what: 'the store does not answer',
    over: 'the store answers',
    log,
    quietMs: 5_000,
    longQuietMs: 60_000,
    clock: () => nowMs,
  })

  it('is a line when it begins, with its first cause, and one when it is over, with how often and for how long it failed', async () => {
    const { lines, log } = logged()
    const outage = createOutage(options(log))
    for (let time = 0; time < 600; time += 1) {
      outage.failed('asking', away(`${time}`), { requestId: `r${time}` })
      nowMs += 100
    }
    assert.equal(lines.length, 1)
    assert.equal(lines[0]?.['requestId'], 'r0')
    assert.equal(lines[0]?.['level'], 50)
    outage.worked('asking')
    await pass(10)
    assert.equal(lines.length, 2)
    assert.equal(lines[1]?.['failures'], 600)
    assert.equal(lines[1]?.['seconds'], 59.9)
    assert.deepEqual(outage.state(), { open: false, failures: 600 })
    outage.failed('asking', away(), {})
    assert.equal(lines.length, 3, 'the next one begins anew')
    outage.worked('asking')
    await pass(10)
    assert.equal(lines[3]?.['failures'], 1)
  })

  it('continues while only some of it works: a success among failures ends nothing', async () => {
    const { lines, log } = logged()
    const outage = createOutage(options(log))
    for (let time = 0; time < 60; time += 1) {
      outage.failed('asking', away(), {})
      outage.worked('asking')
      await pass(1)
    }
    assert.equal(lines.length, 1)
  })

  it('continues while nothing is requested, until it is seen to work', async () => {
    const { lines, log } = logged()
    let isBack = false
    let asked = 0
    const probe = async () => {
      asked += 1
      if (!isBack) throw away()
    }
    const outage = createOutage({ ...options(log), probe })
    outage.failed('asking', away(), {})
    await pass(600)
    assert.equal(lines.length, 1)
    assert.ok(asked <= 600, `${asked} questions`)
    isBack = true
    await pass(10)
    assert.equal(lines.length, 2)
    assert.equal(lines[1]?.['failures'], 1)
    assert.ok(Number(lines[1]?.['seconds']) >= 590)
    const before = asked
    await pass(10)
    assert.equal(asked, before, 'nothing is asked when nothing is wrong')
  })

  it('of publications is over when one is stored, or when none failed for long', async () => {
    const { lines, log } = logged()
    const outage = createOutage({ ...options(log), probe: () => Promise.resolve() })
    outage.failed('writing', away(), {})
    await pass(30)
    assert.equal(lines.length, 1, 'the store answers, and nothing shows that it stores')
    await pass(40)
    assert.equal(lines.length, 2)
    outage.failed('writing', away(), {})
    outage.worked('writing')
    await pass(10)
    assert.equal(lines.length, 4)
  })

  it('is reported if it is not over when the service stops', () => {
    const { lines, log } = logged()
    const outage = createOutage(options(log))
    outage.close()
    outage.failed('asking', away(), {})
    outage.close()
    assert.match(String(lines[1]?.['msg']), /not over/)
    assert.equal(lines.length, 2)
  })
})

describe('the outages of a service', () => {
  const start = (lines = logged()) => {
    const outages = createOutages({ log: lines.log, ping: () => Promise.reject(away()) })
    return { ...lines, outages }
  }

  it('are distinguished by what has failed, for requests and background work together', () => {
    const { lines, outages } = start()
    for (const task of [
      'read_key_ids',
      'record_key_uses',
      'reserve_time',
      'announce_node',
      'measure_store',
    ] as const) {
      outages.failed(task, away())
    }
    outages.requestFailed(away(), 'r1', true)
    outages.requestFailed(new StorageFailure('storage_full'), 'r2', true)
    outages.requestFailed(new StorageFailure('feed_locked'), 'r3', true)
    outages.failed('listen', new Error('lost'))
    outages.failed('listen', away())
    assert.deepEqual(
      lines.map(({ outage, task, requestId }) => [outage, task ?? requestId]),
      [
        ['store', 'read_key_ids'],
        ['store_full', 'r2'],
        ['feed_locked', 'r3'],
        ['listen', 'listen'],
      ],
    )
    assert.equal(outages.states().find(({ of }) => of === 'store')?.failures, 6)
    outages.close()
    assert.equal(lines.length, 8)
    outages.failed('announce_node', new StorageFailure('storage_closed'))
    assert.equal(lines.length, 8, 'what ends with the service is no failure')
  })

  it('of faults are one for each kind, and a few hundred kinds are not a line each', () => {
    const { lines, outages } = start()
    const fault = (text: string) => new TypeError(text)
    for (let time = 0; time < 1_000; time += 1) {
      outages.requestFailed(fault('the first'), `r${time}`, false)
      outages.requestFailed(new StorageFailure('storage_damaged', fault('at position 17')), `s${time}`, false)
    }
    assert.equal(lines.length, 2)
    for (let kind = 0; kind < 500; kind += 1) outages.requestFailed(fault(`kind ${kind}`), 'r', false)
    assert.ok(lines.length <= 51, `${lines.length} lines`)
    outages.close()
    assert.ok(lines.length <= 54, 'those that came once have one line')
  })
})
