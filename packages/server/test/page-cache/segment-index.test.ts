/** What is known of the file of sealed pages: the same whether it is told by its records or by the note left beside it. */
import assert from 'node:assert/strict'
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { openSegmentFile } from '../../src/reading/page-cache/segments/segment-file.ts'
import { keyOfSegment } from '../../src/reading/page-cache/segments/segment-id.ts'
import type { SegmentId } from '../../src/reading/page-cache/segments/segment-id.ts'
import { createSegmentIndex } from '../../src/reading/page-cache/segments/segment-index.ts'
import type { RecordFacts, SegmentIndex } from '../../src/reading/page-cache/segments/segment-index.ts'
import { sealSegment } from '../../src/reading/page-cache/segments/segment.ts'
import type { Segment } from '../../src/reading/page-cache/segments/segment.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'

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
    tableChecked: fc.boolean(),
    joinedChecked: fc.boolean(),
    deflatedChecked: fc.boolean(),
  },
  { noNullPrototype: true },
)
const id: fc.Arbitrary<SegmentId> = fc.record(
  {
    series: fc.constantFrom('t/property e/0 all', 't/property e/0 sales', 't/contact e/1 all'),
    number: fc.nat(300),
  },
  { noNullPrototype: true },
)

describe('the index of segments', () => {
  it('returns what was put into it, and so does one that begins with its series', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(id, facts), { maxLength: 60 }), fc.array(id), (puts, others) => {
        const index = createSegmentIndex()
        const model = new Map<string, RecordFacts>()
        for (const [one, known] of puts) {
          index.set(one, known)
          model.set(keyOfSegment(one), known)
        }
        const copy = createSegmentIndex(index.series())
        for (const asked of [...puts.map(([one]) => one), ...others]) {
          assert.deepEqual(index.get(asked), model.get(keyOfSegment(asked)))
          assert.deepEqual(copy.get(asked), model.get(keyOfSegment(asked)))
        }
        index.clear()
        assert.deepEqual(
          [index.get({ series: 't/property e/0 all', number: 0 }), index.series()],
          [undefined, []],
        )
      }),
    )
  })
})

const names = ['t/property e/0 all', 't/property e/0 sales'] as const
const ids = names.flatMap((series) => [0, 1, 70].map((number) => ({ series, number })))

async function segmentsOf(all: readonly SegmentId[]): Promise<readonly (readonly [SegmentId, Segment])[]> {
  return Promise.all(
    all.map(async (one) => {
      const events = Array.from(
        { length: 100 },
        (_, n) => `{"tenantId":"x","n":${n},"payload":"${keyOfSegment(one)}"}`,
      )
      const segment = await sealSegment(Buffer.from(events.join(',')))
      assert.ok(segment)
      return [one, segment] as const
    }),
  )
}

/** A file of some segments, closed in good order; says what was known of them. */
async function closedFile(path: string): Promise<Known> {
  const file = openSegmentFile(path, 1e9)
  for (const [one, segment] of await segmentsOf(ids)) file.put(one, segment)
  const known = knownOf(file.index)
  file.close()
  return known
}

type Known = readonly (RecordFacts | undefined)[]

function knownOf(index: SegmentIndex): Known {
  return ids.map((one) => index.get(one))
}

/** As it is known from a note, or from the records, when nobody has looked at the bytes. */
const withTable = (known: Known, tableChecked: boolean): Known =>
  known.map((one) => one && { ...one, tableChecked, joinedChecked: false, deflatedChecked: false })
const unchecked = (known: Known): Known => withTable(known, true)

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
    rmSync(`${path}.index`)
    const scanned = reopened(path)
    assert.deepEqual(scanned, { known: unchecked(known), byteLength: readFileSync(path).length })
    // What nobody has looked at since is not taken for looked at because the next end was orderly.
    assert.deepEqual(reopened(path).known, unchecked(known))
  })

  it('is known after a crash from the note left on the way and the records after it, and treats nothing as checked', async () => {
    using folder = temporaryFolder()
    const [running, crashed] = [join(folder.path, 'running'), join(folder.path, 'crashed')]
    const segments = await segmentsOf(ids)
    const file = openSegmentFile(running, 1e9, 15_000)
    const noted: number[] = []
    for (const [one, segment] of segments) {
      file.put(one, segment)
      if (existsSync(`${running}.index`)) noted.push(file.byteLength)
      if (noted.length === 1) copyFileSync(`${running}.index`, `${crashed}.index`)
    }
    assert.ok(noted.length > 1 && noted.length < segments.length, 'a note was left on the way')
    copyFileSync(running, crashed)
    const known = knownOf(file.index)
    file.close()

    // What the note covers is not read: the head of the first record is not there any more.
    const damaged = openSync(crashed, 'r+')
    writeSync(damaged, Buffer.alloc(4), 0, 4, 0)
    closeSync(damaged)
    const opened = openSegmentFile(crashed, 1e9)
    assert.equal(opened.byteLength, readFileSync(crashed).length)
    assert.deepEqual(withTable(knownOf(opened.index), false), withTable(known, false))
    assert.ok(knownOf(opened.index).every((one) => one?.joinedChecked === false && !one.deflatedChecked))
    assert.deepEqual(
      segments.map(([one]) => opened.get(one)?.isRecorded()),
      segments.map((_, index) => index > 0),
    )
    opened.close()
  })

  it('removes its note with it when it is emptied', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'sealed')
    await closedFile(path)
    const file = openSegmentFile(path, 1e9)
    file.clear()
    assert.equal(existsSync(`${path}.index`), false)
    file.close()
    assert.deepEqual(reopened(path), { known: ids.map(() => undefined), byteLength: 0 })
  })

  it('is never opened by an incomplete note, and treats nothing as checked by a note that is not its own', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'sealed')
    const known = await closedFile(path)
    const otherPath = join(folder.path, 'other')
    await closedFile(otherPath)
    const damages = fc.oneof(
      fc.nat().map((at) => (note: Buffer) => note.with(at % note.length, (note[at % note.length] ?? 0) ^ 1)),
      fc.nat().map((length) => (note: Buffer) => note.subarray(0, length % note.length)),
      fc.constant((note: Buffer) => new Uint8Array(note.length)),
    )
    const openedWith = (note: Uint8Array): { noted: boolean; known: Known } => {
      writeFileSync(`${path}.index`, note)
      const file = openSegmentFile(path, 1e9)
      const opened = { noted: existsSync(`${path}.index`), known: knownOf(file.index) }
      file.close()
      return opened
    }
    fc.assert(
      fc.property(damages, (damage) => {
        // The one that the opening before has left.
        const opened = openedWith(damage(readFileSync(`${path}.index`)))
        assert.deepEqual(opened, { noted: false, known: unchecked(known) })
      }),
      { numRuns: 200 },
    )
    assert.deepEqual(openedWith(readFileSync(`${otherPath}.index`)).known, withTable(known, false))
  })
})
