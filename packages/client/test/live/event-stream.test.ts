/** The client's own reader of `text/event-stream`, beside a foreign one. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createParser } from 'eventsource-parser'
import * as fc from 'fast-check'
import { InvalidAnswerError } from '../../src/index.ts'
import { createEventStreamParser } from '../../src/live/stream-runs.ts'
import type { StreamMessage } from '../../src/live/stream-runs.ts'

interface Read {
  readonly messages: readonly StreamMessage[]
  readonly retryMs: number | undefined
}

/** Reads pieces of so many bytes each, over and over; in one piece without sizes. */
function readOurs(bytes: Uint8Array, sizes: readonly number[] = [bytes.length]): Read {
  const parser = createEventStreamParser()
  const messages: StreamMessage[] = []
  for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
    const size = Math.max(1, sizes[piece % sizes.length] ?? 1)
    messages.push(...parser.push(bytes.subarray(at, at + size)))
    at += size
  }
  return { messages, retryMs: parser.retryMs }
}

function readForeign(bytes: Uint8Array): Read {
  const messages: StreamMessage[] = []
  let retryMs: number | undefined
  const parser = createParser({
    onEvent: ({ event = 'message', data, id }) => messages.push({ event, data, id }),
    onRetry: (ms) => (retryMs = ms),
  })
  // The byte order mark is for the parser to take away.
  parser.feed(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  return { messages, retryMs }
}

const bytesOf = (text: string) => new TextEncoder().encode(text)

const lineEnd = fc.constantFrom('\n', '\r', '\r\n')
const value = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '  two',
    'a:b',
    ': c',
    '{"price":450000}',
    'Größe – 3 → 4 🏠',
    '7',
    '2000',
    '\uFEFF',
    '\0x',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replaceAll(/[\r\n]/g, '')),
)
const name = fc.constantFrom('data', 'data', 'data', 'event', 'id', 'retry', '', 'other', 'datax', 'dat')
const line = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(name, fc.constantFrom(':', ': ', ''), value).map((parts) => parts.join('')),
  },
  { weight: 3, arbitrary: fc.constant('') },
)
const stream = fc
  .tuple(fc.constantFrom('', '\uFEFF', '\uFEFF\uFEFF'), fc.array(fc.tuple(line, lineEnd), { maxLength: 30 }))
  .map(([begin, lines]) => bytesOf(begin + lines.map((parts) => parts.join('')).join('')))
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 })

describe('the reader of event streams', () => {
  it('reads what a foreign parser reads, wherever the bytes are cut: CR, LF, CRLF, byte order mark, characters in the middle (PROTOCOL §13)', () => {
    fc.assert(
      fc.property(stream, sizes, (bytes, cut) => {
        const whole = readForeign(bytes)
        assert.deepEqual(readOurs(bytes, cut), whole)
        assert.deepEqual(readOurs(bytes, [1]), whole)
        assert.deepEqual(readOurs(bytes), whole)
      }),
      { numRuns: 400 },
    )
  })

  it('follows the standard where parsers differ', () => {
    const read = (text: string) => readOurs(bytesOf(text)).messages
    assert.deepEqual(read('data: a\ndata\ndata: b\n\n'), [
      { event: 'message', data: 'a\n\nb', id: undefined },
    ])
    assert.deepEqual(read('event: mark\n\ndata:x\n\n'), [{ event: 'message', data: 'x', id: undefined }])
    assert.deepEqual(read('id: 1\0\nid: e.7\ndata:  two\n\n'), [
      { event: 'message', data: ' two', id: 'e.7' },
    ])
    assert.deepEqual(read('data: never ended\n'), [])
    assert.deepEqual(read(': a comment\n\n:\n\n'), [])
    assert.equal(readOurs(bytesOf('retry: 1500\nretry: soon\nretry: -1\n')).retryMs, 1_500)
  })

  it('reads long messages in small pieces, and refuses endless ones and bytes that are not text', () => {
    const long = 'x'.repeat(2_000_000)
    const [message] = readOurs(bytesOf(`data: ${long}\n\n`), [1_000]).messages
    assert.equal(message?.data.length, long.length)
    assert.throws(() => readOurs(bytesOf(`data: ${long}${long}${long}`), [100_000]), InvalidAnswerError)
    const lines = `data: ${'x'.repeat(100_000)}\n`.repeat(60)
    assert.throws(() => readOurs(bytesOf(lines), [100_000]), InvalidAnswerError)
    assert.throws(() => readOurs(Uint8Array.of(0x64, 0xff, 0xfe)), InvalidAnswerError)
  })
})
