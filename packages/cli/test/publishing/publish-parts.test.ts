import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

import * as fc from 'fast-check'
import { InvalidAnswerError, NetworkError, ServiceError } from '@property-events/client'
import { isUuid, parseUuid } from '@property-events/protocol'
import { groupBatches } from '../../src/publishing/publish-file.ts'
import { lockJournal } from '../../src/publishing/journal.ts'
import type { RunRecord } from '../../src/publishing/journal.ts'
import type { Source } from '../../src/publishing/source.ts'
import { publishClient } from '../../src/publishing/publish-client.ts'
import { publishFile } from '../../src/publishing/publish-file.ts'
import { readEntry } from '../../src/publishing/read-entry.ts'
import type { EntryReading } from '../../src/publishing/read-entry.ts'
import type { BatchResult } from '../../src/publishing/publish-file.ts'
import { splitJson } from '../../src/publishing/split.ts'
import { maxPieceBytes, splitLines } from '../../src/publishing/split.ts'
import type { Piece } from '../../src/publishing/split.ts'
import { stateFolder } from '../../src/publishing/journal.ts'
import { removeFolder, temporaryFolder } from '../support/program.ts'

const run = '0b5e1a4e-8a3c-4a55-9c3f-3f3f2b1a0001'

async function* inChunks(text: string | Buffer, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text as string)
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const gathered: Item[] = []
  for await (const item of items) gathered.push(item)
  return gathered
}

const textOf = (piece: Piece) => piece.bytes?.toString('utf8')

describe('cutting a file', () => {
  it('gives every line with its number, wherever chunks end, blank lines left out', async () => {
    const lines = fc.array(
      fc.oneof(fc.constant(''), fc.constant('  '), fc.json(), fc.constant('{"a":"é🏠"}')),
    )
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 20 }), fc.boolean(), async (given, size, closed) => {
        const text = given.join('\n') + (closed ? '\n' : '')
        const pieces = await all(splitLines(inChunks(text, size)))
        const expected = text
          .split('\n')
          .map((line, index) => [index + 1, line] as const)
          .filter(([, line]) => line.trim() !== '')
        assert.deepEqual(
          pieces.map((piece) => [piece.line, textOf(piece)]),
          expected,
        )
      }),
    )
  })

  it('yields every element of an array exactly as written, wherever chunks end (D22)', async () => {
    const element = fc.dictionary(fc.string(), fc.jsonValue())
    await fc.assert(
      fc.asyncProperty(
        fc.array(element),
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom(0, 2),
        async (given, size, indent) => {
          const text = JSON.stringify(given, undefined, indent)
          const pieces = await all(splitJson(inChunks(text, size)))
          const compact = (piece: Piece) => JSON.stringify(JSON.parse(textOf(piece) ?? ''))
          assert.deepEqual(
            pieces.map(compact),
            given.map((one) => JSON.stringify(one)),
          )
          assert.deepEqual(
            pieces.map((piece) => piece.item),
            given.map((_, index) => index + 1),
          )
          for (const piece of pieces) {
            assert(text.split('\n')[piece.line - 1]?.includes(textOf(piece)?.split('\n')[0] ?? ''))
          }
        },
      ),
    )
    const [piece] = await all(splitJson(inChunks('[ {"price": 250000.00 , "n":1e2} ]', 3)))
    assert.equal(piece && textOf(piece)?.trim(), '{"price": 250000.00 , "n":1e2}')
  })

  it('gives a single object that is spread over lines', async () => {
    const pieces = await all(splitJson(inChunks('\n{\n "a": [1,\n 2]\n}\n', 4)))
    assert.deepEqual(
      pieces.map((piece) => [piece.line, textOf(piece)]),
      [[2, '{\n "a": [1,\n 2]\n}']],
    )
  })

  it('reports a document that is interrupted or continues after its end, after what came before', async () => {
    for (const [text, expected] of [
      ['[{"a":1},{"b":', /ends in the middle/],
      ['[{"a":1}] []', /has ended, and more text follows/],
      ['[{"a":1},', /ends in the middle/],
    ] as const) {
      const seen: Piece[] = []
      await assert.rejects(async () => {
        for await (const piece of splitJson(inChunks(text, 2))) seen.push(piece)
      }, expected)
      assert.equal(seen[0] && textOf(seen[0]), '{"a":1}')
    }
  })

  it('keeps no line that is longer than any event may be', async () => {
    const long = `{"a":"${'x'.repeat(maxPieceBytes)}"}`
    const pieces = await all(splitLines(inChunks(`{"a":1}\n${long}\n{"b":2}\n`, 65_536)))
    assert.deepEqual(
      pieces.map((piece) => [piece.line, piece.bytes?.length]),
      [
        [1, 7],
        [2, undefined],
        [3, 7],
      ],
    )
  })
})

function read(text: string | Buffer, place: { line?: number; item?: number } = {}): EntryReading {
  const { line = 1, item } = place
  return readEntry({ line, item, bytes: Buffer.from(text as string), endOffset: 0 }, run)
}

describe('an event of a file', () => {
  it('keeps its text, and gets an id that depends on the run and the line alone (D14, D22)', () => {
    const first = read('{"payload":{"price":250000.00}}', { line: 7 })
    assert(first.kind === 'entry')
    assert(isUuid(first.entry.id))
    assert.equal(first.entry.text, `{"id":"${first.entry.id}","payload":{"price":250000.00}}`)
    const again = read('{"payload":{"price":250000.00}}', { line: 7 })
    const other = read('{"payload":{"price":250000.00}}', { line: 8 })
    assert(again.kind === 'entry' && other.kind === 'entry')
    assert.equal(again.entry.id, first.entry.id)
    assert.notEqual(other.entry.id, first.entry.id)
    const inAnotherRun = readEntry(
      { line: 7, item: undefined, bytes: Buffer.from('{"payload":{}}'), endOffset: 0 },
      '0b5e1a4e-8a3c-4a55-9c3f-3f3f2b1a0002',
    )
    assert(inAnotherRun.kind === 'entry')
    assert.notEqual(inAnotherRun.entry.id, first.entry.id)
  })

  it('keeps the id it has; a null one counts as none (D14)', () => {
    const id = '7D1C3A54-5C1E-4C4F-8E0B-000000000001'
    const own = read(`{"id":"${id}","payload":{}}`)
    assert(own.kind === 'entry')
    assert.equal(own.entry.id, parseUuid(id))
    assert.equal(own.entry.text, `{"id":"${id}","payload":{}}`)
    const none = read('{"id": null, "payload":{"id":"inner"}}')
    assert(none.kind === 'entry')
    assert.equal(none.entry.text, `{"id": "${none.entry.id}", "payload":{"id":"inner"}}`)
  })

  it('becomes one line, whatever lines it was spread over', () => {
    const reading = read('{\n  "payload": {\r\n "text": "a  b\\n" }\n}')
    assert(reading.kind === 'entry')
    assert.equal(reading.entry.text, `{"id":"${reading.entry.id}","payload":{"text":"a  b\\n"}}`)
  })

  it('that is not UTF-8 is refused with its place in the file and what to do (PROTOCOL §4)', () => {
    const bytes = Buffer.from('{"payload":{"town":"\xa3"}}', 'latin1')
    const wanted =
      'The text is not UTF-8. The byte 0xA3 at line 7, column 21 does not belong there. Is the text Windows-1252 or ISO-8859-1? Save or convert it as UTF-8.'
    const line = read(bytes, { line: 7 })
    assert(line.kind === 'refused')
    assert.equal(line.refused.message, wanted)
    // Nobody knows in which column an item of an array begins.
    const item = read(bytes, { line: 7, item: 2 })
    assert(item.kind === 'refused')
    assert.equal(item.refused.message, wanted.replace(', column 21', ''))
  })

  it('that is not JSON is refused with its place and what to do, and with none of its text (D6)', () => {
    const line = read("{'payload': {'last_name': 'Siân'}}", { line: 5 })
    assert(line.kind === 'refused')
    assert.equal(
      line.refused.message,
      'Invalid JSON at line 5, column 2. Names and texts must be in double quotes.',
    )
    const item = read('{\n"payload": {"price": 1,}}', { line: 5, item: 2 })
    assert(item.kind === 'refused')
    assert.match(item.refused.message, /^Invalid JSON at line 6, column 24\. .*comma/)
  })

  it('is refused here if it is not a JSON object, with a stable code', () => {
    const refused: readonly (readonly [string | Buffer, string])[] = [
      ['{"payload":', 'invalid_json'],
      ['{"payload":{"a":1,"a":2}}', 'duplicate_key'],
      ['[]', 'wrong_type'],
      ['null', 'wrong_type'],
      ['\ufeff{}', 'invalid_json'],
      ['\u00a0{}', 'invalid_json'],
      [Buffer.from([0x7b, 0xff, 0x7d]), 'invalid_utf8'],
      ['['.repeat(100_000), 'too_deep'],
    ]
    for (const [text, code] of refused) {
      const reading = read(text, { line: 3 })
      assert(reading.kind === 'refused')
      assert.deepEqual([reading.refused.line, reading.refused.code], [3, code])
      if (text === '{"payload":')
        assert.equal(
          reading.refused.message,
          'The JSON ends too early, at line 3, column 12. Close every bracket and quotation mark.',
        )
      if (code === 'too_deep') assert.equal(reading.refused.message, 'Nested deeper than 32 levels.')
    }
  })
})

describe('requests of a file', () => {
  async function* entries(ids: readonly string[]): AsyncGenerator<EntryReading> {
    for (const [index, id] of ids.entries()) yield read(`{"id":"${id}"}`, { line: index + 1 })
  }
  const idOf = (number: number) => `7d1c3a54-5c1e-4c4f-8e0b-${String(number).padStart(12, '0')}`

  it('hold at most 500 events, in the order of the file', async () => {
    const ids = Array.from({ length: 1201 }, (_, number) => idOf(number))
    const batches = await all(groupBatches(entries(ids)))
    assert.deepEqual(
      batches.map((batch) => batch.entries.length),
      [500, 500, 201],
    )
    assert.deepEqual(
      batches.flatMap((batch) => batch.entries.map((entry) => entry.id)),
      ids,
    )
  })

  it('never hold the same id twice (D14)', async () => {
    const batches = await all(groupBatches(entries([idOf(1), idOf(2), idOf(1).toUpperCase(), idOf(3)])))
    assert.deepEqual(
      batches.map((batch) => batch.entries.length),
      [2, 2],
    )
  })
})

describe('a service that does not accept a file yet', () => {
  const eventId = run
  const problem = (status: number, code: string, retryAfter?: string) => () =>
    Response.json(
      { code, detail: 'A sentence.' },
      retryAfter === undefined ? { status } : { status, headers: { 'retry-after': retryAfter } },
    )
  const silence = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('gone') }))
  const stored = () =>
    Response.json({ events: [{ id: eventId }], repeated: false, warnings: [] }, { status: 201 })
  const source: Source = {
    digest: '',
    bytes: 1,
    isStream: false,
    format: 'ndjson',
    read: () => inChunks(JSON.stringify({ id: eventId, payload: {} }), 1000),
    close: () => undefined,
  }
  /** Publishes one line to a service that answers so, the last answer again and again. */
  async function published(...answers: readonly (() => Response | Promise<Response>)[]) {
    const waits: number[] = []
    const sentences: string[] = []
    const results: BatchResult[] = []
    let asks = 0
    const client = publishClient({
      address: { baseUrl: 'http://feed.example', key: 'k' },
      feed: 'property',
      onWait: (sentence) => sentences.push(sentence),
      transport: {
        fetch: async () => {
          asks += 1
          return answers[Math.min(asks, answers.length) - 1]?.() ?? assert.fail('no answer')
        },
        sleep: async (waitMs) => void waits.push(waitMs),
      },
    })
    const onBatch = async (result: BatchResult) => void results.push(result)
    const { signal } = new AbortController()
    const options = {
      client,
      source,
      run,
      after: 0,
      unchanged: 'store',
      dryRun: false,
      signal,
      onBatch,
    } as const
    const ended: unknown = await publishFile(options).catch((error: unknown) => error)
    return { ended, results, asks, waits, sentences }
  }

  it('is asked again after the time it names until it does, and the user hears why', async () => {
    const { ended, results, waits, sentences } = await published(
      problem(429, 'rate_limited', '7'),
      problem(503, 'overloaded'),
      silence,
      stored,
    )
    assert.equal(ended, undefined)
    assert.deepEqual(results, [{ published: 1, repeated: 0, unchanged: 0, advice: [], refused: [] }])
    assert.equal(waits.length, 3)
    assert.ok((waits[0] ?? 0) >= 7000)
    assert.deepEqual(sentences, [
      'A sentence. (429, rate_limited)',
      'A sentence. (503, overloaded)',
      'http://feed.example does not answer (gone). Is the service running, and is PROPERTY_EVENTS_URL or --url right?',
    ])
  })

  it('is given up after twelve tries', async () => {
    const busy = await published(problem(503, 'overloaded'))
    assert.equal(busy.asks, 12)
    assert.ok(busy.ended instanceof ServiceError)
    const silent = await published(silence)
    assert.equal(silent.asks, 12)
    assert.ok(silent.ended instanceof NetworkError)
  })

  it('is given up at once if waiting cannot help', async () => {
    for (const one of [
      problem(401, 'unauthorized'),
      problem(503, 'epoch_required'),
      problem(503, 'clock_behind', '60'),
      problem(500, 'storage_damaged'),
      problem(429, 'rate_limited', '3600'),
    ]) {
      const { ended, asks } = await published(one)
      assert.ok(ended instanceof ServiceError)
      assert.equal(asks, 1, ended.code)
    }
  })

  it('is not the service if something else answers: nothing of that counts as published or repeated', async () => {
    const { ended, results } = await published(() => new Response('<html>', { status: 200 }))
    assert.ok(ended instanceof InvalidAnswerError)
    assert.deepEqual(results, [])
  })
})

describe('the journal of a run', () => {
  it('is complete as written, or damaged, and never half of it', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'journal.json')
    const journal = lockJournal(path) ?? assert.fail('taken')
    try {
      assert.equal(journal.read(), undefined)
      const record: RunRecord = {
        run,
        file: '/tmp/a',
        digest: 'ab',
        epoch: 'k3Jx0aQ9zT',
        unit: 'item',
        acknowledged: 500,
        totals: { published: 499, repeated: 0, unchanged: 0, refused: 1 },
        writtenMs: 1_790_000_000_000,
      }
      await journal.write(record)
      assert.deepEqual(journal.read(), { format: 'property-events publish run 1', ...record })
      assert.equal(lockJournal(path), undefined, 'nobody else has it meanwhile')
      const text = readFileSync(path, 'utf8')
      for (const damaged of [
        '',
        'null',
        '[]',
        '\0\0\0\0',
        text.slice(0, 40),
        text.replace('"run":"', '"run":"x'),
        text.replace('"acknowledged":500', '"acknowledged":-1'),
        text.replace('"item"', '"word"'),
        text.replace('"refused":1', '"refused":"1"'),
        text.replace('run 1', 'run 2'),
      ]) {
        writeFileSync(path, damaged)
        assert.equal(journal.read(), 'damaged', damaged)
      }
    } finally {
      journal.end()
    }
    assert.deepEqual(readdirSync(folder), [])
    removeFolder(folder)
  })

  it('is kept where the user keeps state, on each platform', () => {
    const home = join('/', 'home', 'ada')
    const inHome = (...names: readonly string[]) => join(home, ...names, 'property-events')
    assert.equal(stateFolder({}, 'linux', home), inHome('.local', 'state'))
    assert.equal(stateFolder({}, 'darwin', home), inHome('Library', 'Application Support'))
    assert.equal(stateFolder({}, 'win32', home), inHome('AppData', 'Local'))
    assert.equal(stateFolder({ LOCALAPPDATA: '/local' }, 'win32', home), join('/local', 'property-events'))
    for (const platform of ['linux', 'darwin', 'win32'] as const) {
      const given = (path: string) => stateFolder({ XDG_STATE_HOME: path }, platform, home)
      assert.equal(given('/var/state'), join('/var/state', 'property-events'))
      assert.equal(given('relative'), stateFolder({}, platform, home), 'as the specification has it')
    }
  })
})
