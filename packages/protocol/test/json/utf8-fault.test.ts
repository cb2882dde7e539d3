/** Where bytes stop being UTF-8, as a person who has to correct them is told. `isUtf8` says whether they do. */
import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { findUtf8Fault, utf8FaultText } from '../../src/index.ts'

function faultIn(bytes: Uint8Array) {
  const steps = findUtf8Fault(bytes)
  for (let turns = 0; ; turns += 1) {
    const step = steps.next()
    if (step.done === true) return { fault: step.value, turns }
  }
}

const mixed = fc.array(
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 4 }).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
  ),
  { maxLength: 12 },
)

describe('a fault of UTF-8', () => {
  it('is found in exactly the bytes that are not UTF-8, after all that are (P11)', () => {
    fc.assert(
      fc.property(mixed, (parts) => {
        const bytes = Buffer.concat(parts)
        const { fault } = faultIn(bytes)
        assert.equal(fault === undefined, isUtf8(bytes))
        if (fault === undefined) return
        // The characters before it, by lines: together they are UTF-8, and with one more byte or more they are not.
        const lines = bytes.toString('latin1').split('\n')
        const start = lines.slice(0, fault.line - 1).reduce((sum, line) => sum + line.length + 1, 0)
        const before = Array.from(bytes.subarray(start).toString('utf8'))
          .slice(0, (fault.column ?? 1) - 1)
          .join('')
        const at = start + Buffer.byteLength(before)
        assert.ok(isUtf8(bytes.subarray(0, at)))
        assert.equal(bytes[at], fault.byte)
        for (let end = at + 1; end <= Math.min(at + 4, bytes.length); end += 1) {
          assert.equal(isUtf8(bytes.subarray(at, end)), false)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('is told with its line, its column in characters and its byte, and what to do (PROTOCOL §4)', () => {
    const latin = Buffer.concat([
      Buffer.from('{"town":"Tŷ 🏡",\n"price":"'),
      Buffer.from([0xa3]),
      Buffer.from('1"}'),
    ])
    const { fault } = faultIn(latin)
    assert.deepEqual(fault, { line: 2, column: 10, byte: 0xa3 })
    assert.equal(
      fault && utf8FaultText(fault),
      'The byte 0xA3 at line 2, column 10 does not belong there. Is the text Windows-1252 or ISO-8859-1? Save or convert it as UTF-8.',
    )
    const wide = faultIn(Buffer.from('\ufeff{}', 'utf16le')).fault
    assert.match(
      wide ? utf8FaultText(wide) : '',
      /^It begins with the byte 0xFF, as UTF-16 does\. Save or convert/,
    )
  })

  it('of a long text is looked for in turns with everything else (P11)', () => {
    const { fault, turns } = faultIn(Buffer.concat([Buffer.alloc(400_000, 'é'), Buffer.from([0xe9])]))
    assert.equal(fault?.column, 200_001)
    assert.ok(turns > 20)
  })
})
