/** The page on performance says what the raw results say. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { ConsoleResults } from '../../../../bench/console/results.ts'
import { readConsoleResults } from '../../../../bench/report/console-section.ts'
import { performanceDocument } from '../../../../bench/report/document.ts'
import { readResults } from '../../../../bench/report/read-results.ts'
import { readWhys } from '../../../../bench/report/why.ts'
import type { ReportedJob } from '../../../../bench/report/read-results.ts'
import { caseResult } from '../../../../bench/support/figures.ts'
import { targetResult } from '../../../../bench/support/targets.ts'

const root = join(import.meta.dirname, '../../../..')
const run = (requestsPerSecond: number, p99Ms = 2) => ({
  requestsPerSecond,
  megabytesPerSecond: 3,
  p50Ms: 1,
  p99Ms,
  errors: 0,
})
const ours = { subject: 'property-events', what: 'page of 100' }
const limit = { subject: 'nginx', what: 'page of 100' }
const results = [
  caseResult('J1', ours.subject, ours.what, [run(60), run(90), run(66)]),
  caseResult('J1', limit.subject, limit.what, [run(100), run(100), run(100)]),
]
const target = {
  job: 'J1',
  text: 'page of 100: of nginx',
  ours,
  theirs: limit,
  figure: 'requestsPerSecond',
} as const

function jobWith(atLeast: number): ReportedJob {
  const reached = targetResult({ ...target, wanted: { atLeast } }, results)
  assert.ok(reached)
  return {
    name: 'pages',
    takenAt: '2026-01-02T03:04:05.000Z',
    commit: 'abc1234',
    machine: { cpu: 'A processor', cores: 2, memoryGiB: 8, node: 'v26.0.0', kernel: '6.1.0' },
    settings: { events: 1_000_000, averageBytes: 3_600, runs: 3, seconds: 4, connections: 16 },
    results,
    targets: [reached],
    skipped: [{ peer: 'Redis and webdis', reason: 'redis-server is not installed' }],
    remark: 'What limits it: the kernel.',
  }
}

describe('docs/performance.md', () => {
  it('is what the generator makes of the committed results', () => {
    const results = join(root, 'bench/results')
    const jobs = readResults(results, join(root, 'bench/remarks'))
    const document = readFileSync(join(root, 'docs/performance.md'), 'utf8')
    const made = performanceDocument(jobs, readWhys(results), readConsoleResults(results))
    assert.ok(document === made, 'run `npm run bench:report` and commit what it writes')
  })

  it('names every target that was missed, with its ratio', () => {
    const text = performanceDocument([jobWith(0.85)])
    assert.match(text, /\*\*missed\*\*/)
    assert.match(
      text,
      /1 of 1 targets were missed:\n\n- J1, page of 100: of nginx: 0\.66, wanted at least 0\.85/,
    )
  })

  it('says what `why` took, of the run with the most events', () => {
    const [sqlite] = readWhys(join(root, 'bench/results'))
    assert.equal(sqlite?.engine, 'sqlite')
    const text = performanceDocument([], [{ ...sqlite, events: 123_456 }])
    assert.match(
      text,
      /\| SQLite \| 123,456 \| 30 \| `property-events why REF` \| 1 \| [\d,.]+ \| [\d,.]+ \|/,
    )
    assert.doesNotMatch(performanceDocument([]), /Why a property/)
  })

  it('says so when every target was reached', () => {
    const text = performanceDocument([jobWith(0.5)])
    assert.doesNotMatch(text, /\*\*missed\*\*/)
    assert.match(text, /all 1 targets were reached/)
  })

  it('says on which machine, from which sources, and how long it was measured, and what was left out', () => {
    const text = performanceDocument([jobWith(0.5)])
    assert.match(
      text,
      /2026-01-02, sources abc1234; A processor, 2 cores, 8 GiB,\sLinux 6\.1\.0, Node v26\.0\.0/,
    )
    assert.match(text, /`--events 1000000`\sof\ssome\s3,600\sbytes,\s3\sruns/)
    assert.match(text, /- Redis and webdis: redis-server is not installed/)
    assert.match(text, /What limits it: the kernel\./)
  })

  it('has the figures of the console beside what they aim at, once they were measured', () => {
    const { machine } = jobWith(1)
    const results: ConsoleResults = {
      name: 'console',
      takenAt: '2026-01-02T03:04:05.000Z',
      machine,
      browser: '140.0',
      events: 1_000_000,
      paints: [{ page: 'feed', line: 'loopback', firstPaintMs: [90, 70, 80], shownMs: [200, 210, 190] }],
      scrolls: [{ way: 'a fling', frameMs: [16, 17, 16, 40], mostRows: 58, pagesAsked: 1 }],
      propertyPage: { requests: ['/a', '/b'], shownMs: [120] },
      starts: [{ build: 'now', start: 'first', readyMs: [900, 1_100], memoryMiB: [110, 120] }],
      sizes: [{ file: 'console.js', bytes: 216_000, gzippedBytes: 77_200 }],
    }
    const text = performanceDocument([jobWith(0.5)], [], results)
    for (const line of [
      '| feed, loopback: first paint | 80 ms | ≤ 300 ms |',
      '| a fling, 4 frames: 95 % of them (99 %; most rows, pages asked for) | 40 ms (40 ms; 58, 1) | ≤ 20 ms |',
      '| page of a property: requests | 2 | 2 |',
      '| demo, first start, this build | 1000 ms, 115 MiB | as before |',
      '| console.js, gzipped (as it is) | 77.2 kB (216) | ≤ 95 kB with the parts for its views |',
    ]) {
      assert.ok(text.includes(line), `${line} in ${text}`)
    }
    assert.doesNotMatch(performanceDocument([jobWith(0.5)]), /## The console/)
  })
})

describe('a figure of the bench', () => {
  it('is the median of its runs, with the distance between the extremes', () => {
    const [measured] = results
    assert.equal(measured?.requestsPerSecond, 66)
    assert.equal(measured?.spread, 0.4545)
  })

  it('is compared with a target from above and from below', () => {
    const above = targetResult({ ...target, figure: 'p99Ms', wanted: { atMost: 2 } }, results)
    assert.deepEqual([above?.ratio, above?.reached], [1, true])
    const below = targetResult({ ...target, wanted: { atLeast: 0.67 } }, results)
    assert.deepEqual([below?.ratio, below?.reached], [0.66, false])
  })

  it('has no verdict when the other one was not measured', () => {
    const theirs = { ...limit, what: 'something else' }
    assert.equal(targetResult({ ...target, theirs, wanted: { atLeast: 1 } }, results), undefined)
  })

  it('can be held against a fixed number', () => {
    const fixed = targetResult({ ...target, theirs: 33, wanted: { atMost: 2 } }, results)
    assert.deepEqual([fixed?.ratio, fixed?.reached], [2, true])
  })
})
