import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createPageBufferPool } from '../../src/reading/page-cache/page-buffer-pool.ts'
import type { PooledBuffer } from '../../src/reading/page-cache/page-buffer-pool.ts'
import type { SegmentId } from '../../src/reading/page-cache/segments/segment-id.ts'
import { createSegmentMemory } from '../../src/reading/page-cache/segments/segment-memory.ts'
import type { Lease } from '../../src/reading/page-cache/segments/segment-memory.ts'
import type { SegmentFacts } from '../../src/reading/page-cache/segments/segment-cache.ts'

const MiB = 2 ** 20

const facts: SegmentFacts = {
  whole: { textLength: 0, crc: 0, shift: 0 },
  table: () => {
    throw new Error('nobody asks for the table')
  },
}

/** The same numbers in three series. */
const segment = (key: number): SegmentId => ({ series: `series ${key % 3}`, number: Math.floor(key / 3) })
const named = (series: string): SegmentId => ({ series, number: 0 })

/** Sizes as segments have them, and some that fit badly. */
const sizes = fc.oneof(
  fc.integer({ min: 1, max: 5_000 }),
  fc.integer({ min: 40_000, max: 120_000 }),
  fc.integer({ min: 200_000, max: 900_000 }),
)

const steps = fc.array(
  fc.oneof(
    {
      arbitrary: fc.record({
        kind: fc.constant('read' as const),
        key: fc.integer({ min: 0, max: 30 }),
        size: sizes,
      }),
      weight: 24,
    },
    { arbitrary: fc.record({ kind: fc.constant('take' as const), size: sizes }), weight: 12 },
    {
      arbitrary: fc.record({
        kind: fc.constant('put' as const),
        key: fc.integer({ min: 31, max: 40 }),
        size: sizes,
      }),
      weight: 5,
    },
    { arbitrary: fc.record({ kind: fc.constant('release' as const), which: fc.nat() }), weight: 24 },
    { arbitrary: fc.record({ kind: fc.constant('clear' as const) }), weight: 1 },
  ),
  { maxLength: 200, size: 'max' },
)

/** Bytes in use, with what must be in them as long as they are. */
interface Use extends Lease {
  readonly word: number
}

const holds = ({ bytes, word }: Use): boolean => bytes.equals(Buffer.alloc(bytes.length, word))

describe('the memory of pages', () => {
  it('leaves bytes alone while an answer uses them, whatever is read, kept, put and forgotten meanwhile (P9)', () => {
    fc.assert(
      fc.property(steps, fc.constantFrom(0, 1, 2, 4), (asked, memoryMiB) => {
        const memory = createSegmentMemory({ memoryBytes: memoryMiB * MiB, leastBytes: 1.5 * MiB })
        const uses: Use[] = []
        /** What each key's bytes are made of; a key is read anew after it was forgotten. */
        const words = new Map<number, { readonly word: number; readonly size: number }>()
        let lastWord = 0
        const nextWord = (): number => (lastWord = (lastWord % 255) + 1)
        const use = (lease: Lease, word: number): void => void uses.push({ ...lease, word })

        for (const step of asked) {
          if (step.kind === 'read') {
            const form = step.key % 2 === 0 ? 'joined' : 'deflated'
            const found = memory.get(form, segment(step.key))
            if (found === undefined) {
              const word = nextWord()
              const lease = memory.takeFor(form, segment(step.key), step.size)
              assert.equal(lease.bytes.length, step.size)
              lease.bytes.fill(word)
              lease.keep(facts)
              words.set(step.key, { word, size: step.size })
              use(lease, word)
            } else {
              const known = words.get(step.key)
              assert.equal(found.bytes.length, known?.size)
              use(found, known?.word ?? 0)
            }
          } else if (step.kind === 'take') {
            const lease = memory.take(step.size)
            const word = nextWord()
            lease.bytes.fill(word)
            use(lease, word)
          } else if (step.kind === 'put') {
            const word = nextWord()
            if (!memory.has('joined', segment(step.key))) {
              words.set(step.key, { word, size: step.size })
              memory.put('joined', segment(step.key), Buffer.alloc(step.size, word), facts)
            }
          } else if (step.kind === 'clear') memory.clear()
          else if (uses.length > 0) {
            const [use] = uses.splice(step.which % uses.length, 1)
            if (use !== undefined) assert.ok(holds(use), 'bytes in use were changed')
            use?.release()
            use?.release()
          }
        }
        for (const one of uses) assert.ok(holds(one), 'bytes in use were changed')
        for (const one of uses) one.release()
        memory.clear()
        assert.equal(memory.freeBytes, memory.byteLength)
        assert.equal(memory.besideBytes, 0)
      }),
      { numRuns: 150 },
    )
  })

  it('takes no more than the limit for kept bytes and answers together, or what answers need at least', () => {
    fc.assert(
      fc.property(fc.array(sizes, { maxLength: 120, size: 'max' }), fc.boolean(), (asked, release) => {
        const memory = createSegmentMemory({ memoryBytes: 4 * MiB, leastBytes: MiB })
        assert.equal(memory.byteLength, 4 * MiB)
        const buffers = new Set<ArrayBufferLike>()
        const uses: Lease[] = []
        let inUse = 0
        for (const [key, size] of asked.entries()) {
          if (!release && inUse + size > 2 * MiB) break
          const lease = memory.takeFor('joined', segment(key), size)
          lease.keep(facts)
          buffers.add(lease.bytes.buffer)
          if (release) lease.release()
          else uses.push(lease)
          inUse += size
        }
        const total = [...buffers].reduce((sum, buffer) => sum + buffer.byteLength, 0)
        assert.ok(total <= 4 * MiB, `${total} bytes`)
        assert.equal(memory.besideBytes, 0)
      }),
    )
    assert.equal(createSegmentMemory({ memoryBytes: 0, leastBytes: MiB }).byteLength, MiB)
  })

  it('requests no memory before it is needed, and extra memory only while it is in use', () => {
    const memory = createSegmentMemory({ memoryBytes: 2 ** 40, leastBytes: MiB })
    assert.equal(memory.freeBytes, 2 ** 40)
    const small = createSegmentMemory({ memoryBytes: MiB, leastBytes: 0 })
    const [first, second] = [small.take(700_000), small.take(700_000)]
    assert.equal(small.besideBytes, 700_000)
    assert.notEqual(first.bytes.buffer, second.bytes.buffer)
    second.release()
    assert.equal(small.besideBytes, 0)
    first.release()
    assert.equal(small.take(700_000).bytes.buffer, first.bytes.buffer)
  })

  it('keeps what is read while there is room, and gives it to all that ask', () => {
    const memory = createSegmentMemory({ memoryBytes: MiB, leastBytes: 0 })
    const page = named('page')
    const lease = memory.takeFor('joined', page, 100_000)
    assert.equal(memory.get('joined', page), undefined, 'it has not been read yet')
    lease.keep(facts)
    lease.release()
    assert.equal(memory.get('joined', page)?.bytes.buffer, lease.bytes.buffer)
    assert.equal(memory.get('deflated', page), undefined)
  })

  it('keeps what is requested most, however many others are read once', () => {
    const memory = createSegmentMemory({ memoryBytes: MiB, leastBytes: 0 })
    const read = (series: string): boolean => {
      const found = memory.get('joined', named(series))
      if (found === undefined) {
        const lease = memory.takeFor('joined', named(series), 200_000)
        lease.keep(facts)
        lease.release()
        return false
      }
      found.release()
      return true
    }
    for (let other = 0; other < 10; other += 1) read(`early ${other}`)
    for (let round = 0; round < 5; round += 1) for (const series of ['a', 'b', 'c']) read(series)
    for (let other = 0; other < 200; other += 1) read(`late ${other}`)
    assert.deepEqual(['a', 'b', 'c'].map(read), [true, true, true])
  })

  it('makes room for answers: unused segments go, used ones stay', () => {
    const memory = createSegmentMemory({ memoryBytes: MiB, leastBytes: 0 })
    for (const series of ['used', 'unused']) {
      const lease = memory.takeFor('joined', named(series), 300_000)
      lease.keep(facts)
      if (series === 'unused') lease.release()
    }
    const answer = memory.take(600_000)
    assert.equal(memory.besideBytes, 0)
    assert.ok(memory.has('joined', named('used')))
    assert.equal(memory.has('joined', named('unused')), false)
    answer.release()
  })

  it('keeps segments whose removal would not help', () => {
    const memory = createSegmentMemory({ memoryBytes: MiB, leastBytes: 0 })
    for (const series of ['unused', 'used']) {
      const lease = memory.takeFor('joined', named(series), 300_000)
      lease.keep(facts)
      if (series === 'unused') lease.release()
    }
    const answers = [memory.take(400_000), memory.take(500_000)]
    assert.equal(memory.besideBytes, 500_000)
    assert.ok(memory.has('joined', named('used')) && memory.has('joined', named('unused')))
    for (const answer of answers) answer.release()
  })
})

describe('the room of pages', () => {
  it('never lends the same bytes twice, and is whole again when all came back', () => {
    const moves = fc.array(fc.tuple(fc.boolean(), sizes, fc.nat()), { maxLength: 300, size: 'max' })
    fc.assert(
      fc.property(moves, (asked) => {
        const room = createPageBufferPool(3 * MiB + 5)
        assert.equal(room.byteLength, 3 * MiB)
        const lent: PooledBuffer[] = []
        for (const [isTake, size, which] of asked) {
          const part = isTake ? room.take(size) : undefined
          if (part !== undefined) {
            assert.ok(part.byteLength >= size && part.bytes.length === part.byteLength)
            lent.push(part)
          } else if (lent.length > 0) {
            const [back] = lent.splice(which % lent.length, 1)
            if (back !== undefined) room.giveBack(back)
          }
          const spans = lent.map(({ bytes }) => [bytes.byteOffset, bytes.byteOffset + bytes.length] as const)
          spans.sort(([a], [b]) => a - b)
          for (const [index, [from]] of spans.entries()) assert.ok(from >= (spans[index - 1]?.[1] ?? 0))
          const used = lent.reduce((sum, part) => sum + part.byteLength, 0)
          assert.equal(room.freeBytes, room.byteLength - used)
        }
        for (const part of lent) room.giveBack(part)
        assert.equal(room.take(3 * MiB)?.byteLength, 3 * MiB)
      }),
      { numRuns: 200 },
    )
  })

  it('names what has to come back for a longer part, and then has it', () => {
    const room = createPageBufferPool(8 * 4_096)
    const parts = Array.from({ length: 8 }, () => room.take(1))
    const [, second, third, fourth, fifth] = parts
    assert.ok(second && third && fourth && fifth)
    room.giveBack(second)
    assert.equal(room.take(2 * 4_096), undefined)
    assert.deepEqual(
      room.inTheWay(third, 2 * 4_096, () => false),
      [third],
    )
    assert.equal(
      room.inTheWay(third, 3 * 4_096, () => false),
      undefined,
    )
    const found = room.inTheWay(third, 4 * 4_096, (part) => part === fourth || part === fifth)
    assert.deepEqual(new Set(found), new Set([third, fourth, fifth]))
    for (const part of found ?? []) room.giveBack(part)
    const longer = room.take(4 * 4_096)
    assert.ok(longer)
    room.giveBack(longer)
    assert.throws(() => room.giveBack(longer), /not lent/)
  })
})
