import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { countKeys, quickScan } from '../../src/json/quick-scan.ts'
import { JsonScan } from '../../src/json/scan.ts'
import { text } from '../support/json-texts.ts'

const limits = fc.record({
  maxDepth: fc.integer({ min: 1, max: 6 }),
  members: fc.constantFrom({ keys: ['payload'], depth: 1 }, { keys: ['a', 'b'], depth: 1 }),
})

describe('the quick scan', () => {
  it('passes nothing that the exact one refuses, and finds the same members (P11, D22)', () => {
    let passed = 0
    fc.assert(
      fc.property(text, limits, (json, within) => {
        const quick = quickScan({ text: json, nextBackslash: -1 }, within)
        const value = parsed(json)
        if (typeof quick === 'string' || value === undefined || countKeys(value) !== quick.keys) return
        passed += 1
        const exact = new JsonScan(json, within)
        assert.equal(exact.run(), undefined, json)
        assert.deepEqual(quick.spans, exact.spans, json)
        assert.equal(json.slice(quick.end).trim(), '')
      }),
      { numRuns: 3_000 },
    )
    assert.ok(passed > 300, `only ${passed} texts were passed`)
  })

  it('passes an ordinary event, so that the exact one is not needed', () => {
    const json =
      '{"payload": {"agent_ref":"x","price":250000.00,"note":"caf\\u00e9 \\/ \\"\u2019\\""},"id":null}'
    const quick = quickScan(
      { text: json, nextBackslash: -1 },
      { maxDepth: 33, members: { keys: ['payload'], depth: 1 } },
    )
    assert.equal(typeof quick === 'string' ? quick : quick.keys, countKeys(parsed(json)))
  })
})

describe('the quick scan of a text that continues', () => {
  it('looks for a backslash far behind once, not once for every item', () => {
    const json = `[${'{"a":"b"},'.repeat(100_000)}"\\n"]`
    const scanned = { text: json, nextBackslash: -1 }
    quickScan(scanned, { maxDepth: 2 }, 1)
    assert.equal(scanned.nextBackslash, json.indexOf('\\'))
  })
})

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
