/** A page's cost does not depend on its number, nor a count on what it counts (P5). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import Database from 'better-sqlite3'
import type { Ticks, ViewName } from '@property-events/protocol'
import { nextThinStep } from '../../src/privacy/retention/retention.ts'
import { connectForReading } from '../../src/sql/sqlite/connection.ts'
import { countsReader, newestReader, tallier } from '../../src/events/sqlite/read/counts.ts'
import { dueReader } from '../../src/store/sqlite/reduce/retention.ts'
import { locator } from '../../src/events/sqlite/read/locate.ts'
import { afterReader } from '../../src/events/sqlite/read/read-after.ts'
import { eventReader } from '../../src/events/sqlite/read/read-event.ts'
import { rangeReader } from '../../src/events/sqlite/read/read-range.ts'
import { feedKey, uuid } from './support/drafts.ts'
import { createdStep, firstCreated, storeOfManyEvents } from './support/million-events.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const count = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 1_000_000 : 200_000
const pageSize = 100

interface Asked {
  readonly view: ViewName
  readonly from?: Ticks
  readonly to?: Ticks
  readonly page: 'first' | 'last'
}

/** Bytes that the process has asked the system to read; Linux only. */
function bytesRead(): number | undefined {
  if (process.platform !== 'linux') return undefined
  return Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
}

function createdOf(position: number): Ticks {
  return firstCreated + BigInt(position - 1) * createdStep
}

describe(`pages of a feed of ${count} events`, () => {
  const folder = temporaryFolder()
  let file = ''
  before(async () => {
    file = await storeOfManyEvents(folder.path, count)
  })
  after(() => folder[Symbol.dispose]())

  /** What one page costs on a connection that has read nothing yet, and the numbers on it. */
  function readPage({ page, ...window }: Asked): {
    readonly bytes: number
    readonly numbers: readonly number[]
  } {
    const db = connectForReading(file)
    try {
      const locate = locator(db)
      const readRange = rangeReader(db)
      const start = bytesRead()
      const range = locate({ key: feedKey(), ...window })?.range
      assert.ok(range)
      const first = page === 'first' ? range.first : range.first + range.count - pageSize
      const pieces = readRange({ ...range, first, count: pageSize })
      const end = bytesRead()
      const events: { sequenceNumber: number }[] = JSON.parse(`[${Buffer.concat(pieces).toString()}]`)
      const bytes = start === undefined || end === undefined ? 0 : end - start
      return { bytes, numbers: events.map((event) => event.sequenceNumber) }
    } finally {
      db.close()
    }
  }

  function assertAlike(one: Asked, other: Asked): void {
    const [a, b] = [readPage(one).bytes, readPage(other).bytes]
    assert.ok(
      Math.abs(a - b) <= 0.2 * Math.max(a, b),
      `${a} and ${b} bytes for ${one.page} and ${other.page}`,
    )
  }

  it('are the right ones at both ends (P4)', () => {
    assert.equal(readPage({ view: 'all', page: 'first' }).numbers[0], 1)
    assert.equal(readPage({ view: 'all', page: 'last' }).numbers.at(-1), count)
    assert.equal(readPage({ view: 'lettings', page: 'last' }).numbers[0], count - 198)
    const from = createdOf(count / 2)
    assert.equal(readPage({ view: 'sales', from, page: 'first' }).numbers[0], count / 2 + 1)
  })

  it('cost as many bytes at the end as at the beginning, in every view (P5)', (context) => {
    context.diagnostic(`first page: ${readPage({ view: 'all', page: 'first' }).bytes} bytes`)
    for (const view of ['all', 'sales', 'lettings'] as const) {
      assertAlike({ view, page: 'first' }, { view, page: 'last' })
    }
  })

  it('cost as many bytes in a window near the head, or over half of the feed, as near the beginning (P5)', () => {
    for (const view of ['all', 'sales'] as const) {
      const early = { view, from: createdOf(1001), to: createdOf(3001), page: 'first' } as const
      const late = { view, from: createdOf(count - 3000), to: createdOf(count - 1000), page: 'last' } as const
      const half = { view, from: createdOf(2), to: createdOf(count / 2), page: 'last' } as const
      assertAlike(early, late)
      assertAlike(early, half)
    }
  })

  it('are found by searching trees: no statement scans a table or sorts (P5)', () => {
    const statements = new Set<string>()
    const db = new Database(file, { readonly: true, verbose: (sql) => statements.add(String(sql)) })
    const key = feedKey()
    try {
      for (const view of ['all', 'sales'] as const) {
        const located = locator(db)({ key, view, from: createdOf(10), to: createdOf(500) })
        assert.ok(located)
        rangeReader(db)(located.range)
        tallier(db)({ key, view, times: [createdOf(10), createdOf(500)] })
        newestReader(db)({ key, view, before: undefined, limit: 3 })
        for (const latestOnly of [false, true]) {
          for (const after of [0, 5, count + 5]) afterReader(db)({ key, view, after, limit: 3, latestOnly })
        }
      }
      eventReader(db)(key, uuid('e'))
      countsReader(db)(key.tenantId)
      const due = dueReader(db)
      const span = { key, before: createdOf(500), supersededBefore: createdOf(1_000) }
      const ends = due.ends(1, span.before, span.supersededBefore)
      for (const from of [
        { aged: 0, superseded: 500 },
        { aged: 500, superseded: 500 },
      ]) {
        const step = nextThinStep(from, ends, span, 10) ?? assert.fail('nothing is left')
        due.due(1, step, Date.now())
      }
      due.progress(1)
    } finally {
      db.close()
    }
    const selects = [...statements].filter((sql) => sql.startsWith('SELECT'))
    assert.ok(selects.length >= 10, 'statements were seen')
    const plain = new Database(file, { readonly: true })
    try {
      for (const sql of selects) {
        const plan = plain.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all()
        const steps = plan.map((step) => step.detail).join('; ')
        assert.match(steps, /SEARCH/, sql)
        assert.doesNotMatch(steps, /SCAN (?!\(subquery)|TEMP B-TREE/, `${sql}: ${steps}`)
      }
    } finally {
      plain.close()
    }
  })
})
