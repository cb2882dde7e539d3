/** What is known of the file of sealed pages: the same whether it is told by its records or by the note left beside it. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { openSegmentFile } from '../../src/pages/segment-file.ts'
import { createSegmentIndex } from '../../src/pages/segment-index.ts'
import type { RecordFacts, SegmentIndex } from '../../src/pages/segment-index.ts'
import { sealSegment } from '../../src/pages/segment.ts'
import { temporaryFolder } from '../storage/support/temporary-folder.ts'

const word = fc.nat(2 ** 32 - 1)
const facts: fc.Arbitrary<RecordFacts> = fc.record(
  {
    at: fc.integer({ min: 1, max: 2 ** 50 }),
    joinedLength: word,
    deflatedLength: word,
    joinedCrc: word,
    deflatedCrc: word,
    crc: word,
    shift: word,
    joinedChecked: fc.boolean(),
    deflatedChecked: fc.boolean(),
  },
  { noNullPrototype: true },
)
const key = fc
  .tuple(fc.constantFrom('t/property e/0 all', 't/property e/0 sales', 't/contact e/1 all'), fc.nat(300))
  .map(([name, number]) => `${name} ${number}`)

describe('the index of segments', () => {
  it('gives what was put into it, and so does one that begins with its series', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(key, facts), { maxLength: 60 }), fc.array(key), (puts, others) => {
        const index = createSegmentIndex()
        const model = new Map<string, RecordFacts>()
        for (const [one, known] of puts) {
          index.set(one, known)
          model.set(one, known)
        }
        const copy = createSegmentIndex(index.series())
        for (const asked of [...model.keys(), ...others]) {
          assert.deepEqual(index.get(asked), model.get(asked))
          assert.deepEqual(copy.get(asked), model.get(asked))
        }
        index.clear()
        assert.deepEqual([index.get('t/property e/0 all 0'), index.names()], [undefined, []])
      }),
    )
  })
})

const names = ['t/property e/0 all', 't/property e/0 sales'] as const
const keys = names.flatMap((name) => [0, 1, 70].map((number) => `${name} ${number}`))

/** A file of some segments, closed in good order; says what was known of them. */
async function closedFile(path: string): Promise<Known> {
  const file = openSegmentFile(path, 1e9)
  for (const one of keys) {
    const events = Array.from({ length: 100 }, (_, n) => `{"tenantId":"x","n":${n},"payload":"${one}"}`)
    const segment = await sealSegment(Buffer.from(events.join(',')))
    assert.ok(segment)
    file.put(one, segment)
  }
  const known = knownOf(file.index)
  file.close()
  return known
}

type Known = readonly (RecordFacts | undefined)[]

function knownOf(index: SegmentIndex): Known {
  return keys.map((one) => index.get(one))
}

const unchecked = (known: Known): Known =>
  known.map((one) => one && { ...one, joinedChecked: false, deflatedChecked: false })

function reopened(path: string): { known: Known; byteLength: number } {
  const file = openSegmentFile(path, 1e9)
  const known = knownOf(file.index)
  const { byteLength } = file
  file.close()
  return { known, byteLength }
}

describe('the file of sealed pages', () => {
  it('is known after an orderly end as it was before, and by its records after any other end', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'sealed')
    const known = await closedFile(path)
    assert.ok(known.every((one) => one?.joinedChecked === true && one.deflatedChecked))
    assert.deepEqual(reopened(path).known, known)
    rmSync(`${path}.closed`)
    const scanned = reopened(path)
    assert.deepEqual(scanned, { known: unchecked(known), byteLength: readFileSync(path).length })
    // What nobody has looked at since is not taken for looked at because the next end was orderly.
    assert.deepEqual(reopened(path).known, unchecked(known))
  })

  it('is never opened by a note that is not whole, or not its own', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'sealed')
    const known = await closedFile(path)
    const otherPath = join(folder.path, 'other')
    await closedFile(otherPath)
    const other = readFileSync(`${otherPath}.closed`)
    const damages = fc.oneof(
      fc.nat().map((at) => (note: Buffer) => note.with(at % note.length, (note[at % note.length] ?? 0) ^ 1)),
      fc.nat().map((length) => (note: Buffer) => note.subarray(0, length % note.length)),
      fc.constantFrom(
        (note: Buffer) => new Uint8Array(note.length),
        () => other,
      ),
    )
    fc.assert(
      fc.property(damages, (damage) => {
        // The one that the opening before has left.
        writeFileSync(`${path}.closed`, damage(readFileSync(`${path}.closed`)))
        const file = openSegmentFile(path, 1e9)
        assert.equal(existsSync(`${path}.closed`), false)
        const opened = knownOf(file.index)
        file.close()
        assert.deepEqual(opened, unchecked(known))
      }),
      { numRuns: 200 },
    )
  })
})
