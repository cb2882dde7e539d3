import assert from 'node:assert/strict'
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createSegmentStartCache } from '../../src/reading/page-cache/segments/segment-index.ts'
import { eventsPerSegment } from '../../src/reading/page-cache/segments/segment.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'

describe('the places where the events of segments begin', () => {
  const tableBytes = 508

  /** Tables at every multiple of 1,000 but 0, where none can be; each with numbers of its own. */
  function writeTables(file: number, count: number, salt: number): void {
    const bytes = Buffer.alloc((count + 1) * 1_000)
    for (let table = 1; table <= count; table += 1) {
      for (let start = 0; start <= eventsPerSegment; start += 1) {
        bytes.writeUInt32LE(table * 1_000_000 + start * 1_000 + salt, table * 1_000 + start * 4)
      }
    }
    writeSync(file, bytes, 0, bytes.length, 0)
  }

  it('are as in the file, known or not, with more segments than are remembered (P9)', () => {
    using folder = temporaryFolder()
    const file = openSync(join(folder.path, 'tables'), 'w+')
    const count = 4_000
    writeTables(file, count, 0)
    const starts = createSegmentStartCache()
    const query = fc.tuple(
      fc.integer({ min: 1, max: count }),
      fc.nat(eventsPerSegment - 1),
      fc.integer({ min: 1, max: 3 }),
    )
    fc.assert(
      fc.property(query, ([table, index, wanted]) => {
        const events = Math.min(wanted, eventsPerSegment - index)
        const from = table * 1_000_000 + index * 1_000
        assert.deepEqual(starts.span(file, table * 1_000, index, events), [from, from + events * 1_000 - 1])
      }),
      { numRuns: 20_000 },
    )
    closeSync(file)
  })

  it('are read again if the file was emptied, and not trusted if half a table is there (D17)', () => {
    using folder = temporaryFolder()
    const file = openSync(join(folder.path, 'tables'), 'w+')
    writeTables(file, 2, 0)
    const starts = createSegmentStartCache()
    assert.deepEqual(starts.span(file, 1_000, 2, 1), [1_002_000, 1_002_999])
    ftruncateSync(file, 0)
    starts.clear()
    writeTables(file, 2, 7)
    assert.deepEqual(starts.span(file, 1_000, 2, 1), [1_002_007, 1_003_006])
    starts.clear()
    ftruncateSync(file, 1_000 + tableBytes / 4)
    starts.span(file, 1_000, 90, 1)
    writeTables(file, 2, 9)
    assert.deepEqual(starts.span(file, 1_000, 90, 1), [1_090_009, 1_091_008])
    closeSync(file)
  })
})
