/** Counts by tenant and by key: who counts most has a label, and there are never more labels than 20. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { array, assert as check, integer, property, record, tuple, uniqueArray } from 'fast-check'
import { namedCounts, namesShown, topCounter } from '../../src/runtime/metrics/top-counter.ts'
import { slowestRequests, slowestShown } from '../../src/serve/metrics/slowest-requests.ts'
import { countWentLive, topWentLive } from '../../src/serve/metrics/went-live-metrics.ts'

const options = { name: 'a_total', help: 'A.', label: 'tenant', column: 0 } as const

function shown(counter: ReturnType<typeof topCounter>): Map<string, number> {
  return new Map(counter.json().values.map(({ labels, value }) => [String(labels['tenant']), value]))
}

it('shows the 20 that count most and the others together, of 10,000', () => {
  const counter = topCounter(options, () => 0)
  const counts = namedCounts()
  for (let tenant = 0; tenant < 10_000; tenant += 1) counts.add(`t${tenant}`, tenant, 0)
  counter.add(counts.take())
  const values = shown(counter)
  // As docs/metrics.md says: whoever stores metrics pays for each label.
  assert.equal(namesShown, 20)
  assert.equal(values.size, namesShown + 1)
  for (let tenant = 9_980; tenant < 10_000; tenant += 1) assert.equal(values.get(`t${tenant}`), tenant)
  assert.equal(
    [...values.values()].reduce((sum, one) => sum + one, 0),
    (9_999 * 10_000) / 2,
  )
})

it('makes room for names that count more now: old counts weigh less and less', () => {
  let nowMs = 0
  const counter = topCounter(options, () => nowMs)
  const add = (names: readonly (readonly [string, readonly number[]])[]) =>
    counter.add({ names, others: [0] })
  const old = Array.from({ length: 20 }, (_, index) => [`old${index}`, [1_000]] as const)
  add(old)
  add([['new', [900]]])
  assert.ok(!shown(counter).has('new'))
  assert.equal(shown(counter).get('other'), 900)
  nowMs = 600_000
  add([['new', [900]]])
  const values = shown(counter)
  assert.equal(values.get('new'), 900, 'what was counted as other stays there')
  assert.equal(values.get('other'), 900)
  assert.equal(values.size, namesShown + 1)
})

it('counts everything once, lets no series fall while it is shown, and never shows more than 21', () => {
  const step = record({
    passedMs: integer({ min: 0, max: 900_000 }),
    names: uniqueArray(tuple(integer({ min: 0, max: 60 }), integer({ min: 1, max: 1_000 })), {
      selector: ([name]) => name,
    }),
    others: integer({ min: 0, max: 10 }),
  })
  check(
    property(array(step, { maxLength: 30 }), (steps) => {
      let nowMs = 0
      const counter = topCounter(options, () => nowMs)
      let before = shown(counter)
      for (const { passedMs, names, others } of steps) {
        nowMs += passedMs
        counter.add({ names: names.map(([name, count]) => [`t${name}`, [count]]), others: [others] })
        const after = shown(counter)
        assert.ok(after.size <= namesShown + 1)
        let grown = 0
        for (const [name, value] of after) {
          assert.ok(value >= (before.get(name) ?? 0), name)
          grown += value - (before.get(name) ?? 0)
        }
        assert.equal(grown, others + names.reduce((sum, [, count]) => sum + count, 0))
        before = after
      }
    }),
  )
})

it('holds no more names than it has room for, and counts the others together', () => {
  const counts = namedCounts(3)
  for (let tenant = 0; tenant < 10; tenant += 1) counts.add(`t${tenant}`, 1, 100)
  counts.add('t1', 1, 100)
  const { names, others } = counts.take()
  assert.deepEqual(new Map(names).get('t1'), [2, 200])
  assert.equal(names.length, 3)
  assert.deepEqual(others, [7, 700])
  assert.deepEqual(counts.take(), { names: [], others: [0, 0] })
})

it('lists the slowest requests of the last minutes, and creates nothing for the others', () => {
  const slow = slowestRequests()
  let made = 0
  const note = (durationMs: number, nowMs: number) => {
    if (!slow.isSlow(durationMs, nowMs)) return
    made += 1
    const unknown = { keyId: undefined, tenantId: undefined }
    const request = { endedAt: '', requestId: '', method: 'GET', route: '/', status: 200, durationMs }
    slow.note({ ...request, ...unknown }, nowMs)
  }
  for (let durationMs = 1_000; durationMs > 0; durationMs -= 1) note(durationMs, 1)
  const durations = (nowMs: number) => slow.list(nowMs).map(({ durationMs }) => durationMs)
  assert.deepEqual(
    durations(2),
    Array.from({ length: slowestShown }, (_, index) => 1_000 - index),
  )
  assert.equal(made, slowestShown)
  note(5, 310_000)
  assert.equal(durations(310_001)[0], 1_000, 'those before are listed for five minutes more')
  assert.deepEqual(durations(620_000), [5])
  assert.deepEqual(durations(1_300_000), [])
})

it('keeps the series of a name that counts seldom, as long as nobody needs its place', () => {
  let nowMs = 0
  const counter = topCounter(options, () => nowMs)
  counter.add({ names: [['seldom', [1]]], others: [0] })
  nowMs = 86_400_000
  counter.add({ names: [], others: [0] })
  assert.equal(shown(counter).get('seldom'), 1)
  counter.add({ names: Array.from({ length: 20 }, (_, index) => [`busy${index}`, [2]]), others: [0] })
  assert.equal(shown(counter).has('seldom'), false)
})

it('shows the times of 20 sites and of all others together, as Prometheus has histograms (PROTOCOL §14)', () => {
  const counts = countWentLive()
  const shownTimes = topWentLive(() => 0)
  for (let site = 0; site < 5_000; site += 1) {
    for (let times = 0; times < (site < 20 ? 3 : 1); times += 1) counts.add(`key${site}`, 'default', 2)
  }
  counts.add('key0', 'portal', 400_000)
  shownTimes.add(counts.take())
  const { values } = shownTimes.json()
  const ofKey = values.filter(({ labels }) => labels['consumer'] === 'key0')
  const bucket = (le: number | string) => ofKey.find(({ labels }) => labels['le'] === le)?.value
  assert.deepEqual([bucket(1), bucket(5), bucket('+Inf')], [0, 3, 3])
  const counted = values.filter(({ metricName }) => metricName?.endsWith('_count'))
  assert.equal(counted.length, namesShown + 1)
  assert.equal(
    counted.reduce((sum, { value }) => sum + value, 0),
    20 * 3 + 4_980 + 1,
  )
  const other = values.find(
    ({ metricName, labels }) => metricName?.endsWith('_sum') && labels['consumer'] === 'other',
  )
  assert.equal(other?.value, 4_980 * 2 + 400_000)
})
