/** `sync --results`: how lines become requests (PROTOCOL §14.5). */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { ConflictError, createClient } from '@property-events/client'
import type { ConsumerResult } from '@property-events/client'
import { until } from '../../../server/test/support/until.ts'
import type { BadLine, ResultTotals } from '../../src/sync/results/send-results.ts'
import { sendResults } from '../../src/sync/results/send-results.ts'

const refOf = (index: number) => `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`
const resultOf = (index: number, more: object = {}) =>
  JSON.stringify({ agentRef: refOf(index), sequenceNumber: index, outcome: 'live', ...more })

interface Sent {
  readonly requests: readonly (readonly ConsumerResult[])[]
  readonly bad: readonly BadLine[]
  readonly totals: ResultTotals
}

type Answer = (results: readonly ConsumerResult[]) => Response

const taken: Answer = (results) => Response.json({ stored: results.length, unknown: [] })

async function* chunksOf(text: string, bytes = 1_000): AsyncGenerator<Buffer> {
  const all = Buffer.from(text)
  for (let from = 0; from < all.length; from += bytes) yield all.subarray(from, from + bytes)
}

/** Through the client, to a service that answers as it is told. */
async function sent(
  chunks: AsyncIterable<Buffer>,
  answer: Answer = taken,
  signal: AbortSignal = new AbortController().signal,
): Promise<Sent> {
  const requests: ConsumerResult[][] = []
  const bad: BadLine[] = []
  const client = createClient({
    baseUrl: 'http://feed.example',
    key: 'k',
    retry: { attempts: 2, baseDelayMs: 0 },
    fetch: async (_input, init) => {
      const body = typeof init?.body === 'string' ? init.body : ''
      const results = JSON.parse(body) as ConsumerResult[]
      requests.push(results)
      return answer(results)
    },
  })
  const run = { client, chunks, signal, onBadLine: (one: BadLine) => void bad.push(one) }
  const totals = await sendResults({ ...run, retrying: (work) => work() }, () => undefined)
  return { requests, bad, totals }
}

describe('results of a website', () => {
  it('go in requests of 1,000, whatever the file has between them (PROTOCOL §14.5)', async () => {
    const lines = Array.from({ length: 2_345 }, (_, index) => resultOf(index + 1))
    const { requests, bad, totals } = await sent(chunksOf(`\ufeff${lines.join('\r\n\r\n')}`))
    assert.deepEqual(
      requests.map(({ length }) => length),
      [1_000, 1_000, 345],
    )
    assert.deepEqual(
      requests.flat().map(({ sequenceNumber }) => sequenceNumber),
      lines.map((_, index) => index + 1),
    )
    assert.deepEqual(bad, [])
    assert.deepEqual(totals, { sent: 2_345, refused: 0, unknown: 0, throughLine: 4_689 })
  })

  it('make no request if there are none', async () => {
    for (const text of ['', '\n\n', '\ufeff']) {
      assert.deepEqual((await sent(chunksOf(text))).requests, [], JSON.stringify(text))
    }
  })

  it('are sent without the invalid lines, each of which is named with its number (PROTOCOL §14.5)', async () => {
    const lines = [
      resultOf(1),
      'live',
      '["live"]',
      JSON.stringify({ agentRef: refOf(4), outcome: 'live' }),
      resultOf(5, { outcome: 'shown' }),
      resultOf(6, { url: null, message: null, code: null }),
      resultOf(7, { sequenceNumber: '7' }),
      resultOf(8, { message: 'x'.repeat(20_000) }),
    ]
    const { requests, bad, totals } = await sent(chunksOf(lines.join('\n')))
    assert.deepEqual(requests, [[JSON.parse(lines[0] ?? ''), JSON.parse(resultOf(6))]])
    assert.deepEqual(
      bad.map(({ line, code, pointer }) => [line, code, pointer]),
      [
        [2, 'not_an_object', ''],
        [3, 'not_an_object', ''],
        [4, 'missing', '/sequenceNumber'],
        [5, 'wrong_type', '/outcome'],
        [7, 'wrong_type', '/sequenceNumber'],
        [8, 'too_long', ''],
      ],
    )
    assert.deepEqual([totals.sent, totals.refused], [2, 6])
  })

  it('that the service refuses are named, and the others of their request sent again (PROTOCOL §14.5)', async () => {
    const lines = Array.from({ length: 250 }, (_, index) =>
      resultOf(index + 1, index % 2 === 0 ? { code: 'bad code' } : {}),
    )
    const refusing: Answer = (results) => {
      const faulty = results.flatMap(({ code }, index) => (code === undefined ? [] : [index])).slice(0, 100)
      const errors = faulty.map((index) => ({
        pointer: `/${index}/code`,
        code: 'not_allowed',
        message: 'No.',
      }))
      if (errors.length === 0) return taken(results)
      return Response.json({ code: 'invalid_body', detail: 'No.', errors }, { status: 400 })
    }
    const { requests, bad, totals } = await sent(chunksOf(lines.join('\n')), refusing)
    assert.deepEqual(
      requests.map(({ length }) => length),
      [250, 150, 125],
    )
    assert.deepEqual(
      bad.map(({ line }) => line),
      lines.flatMap((_, index) => (index % 2 === 0 ? [index + 1] : [])),
    )
    assert.equal(bad[0]?.pointer, '/code')
    assert.deepEqual([totals.sent, totals.refused], [125, 125])
  })

  it('of events that the feed does not have are found among the others (PROTOCOL §14.5)', async () => {
    const head = 90
    const beyond: Answer = (results) =>
      results.some(({ sequenceNumber }) => sequenceNumber > head)
        ? Response.json({ code: 'cursor_beyond_head', detail: 'No.' }, { status: 409 })
        : taken(results)
    const lines = [
      ...Array.from({ length: 80 }, (_, index) => resultOf(index + 1)),
      resultOf(91),
      resultOf(82),
    ]
    const { bad, totals } = await sent(chunksOf(lines.join('\n')), beyond)
    assert.deepEqual(
      bad.map(({ line, message }) => [line, message]),
      [[81, 'The feed has no event 91 yet.']],
    )
    assert.deepEqual([totals.sent, totals.refused], [81, 1])
  })

  it('are given up if the service refuses all of them, after what was accepted', async () => {
    let requests = 0
    const refusing: Answer = (results) => {
      requests += 1
      return requests === 1 ? taken(results) : Response.json({ code: 'missing_scope' }, { status: 403 })
    }
    const lines = Array.from({ length: 1_001 }, (_, index) => resultOf(index + 1))
    await assert.rejects(sent(chunksOf(lines.join('\n')), refusing), { code: 'missing_scope' })
    assert.equal(requests, 2)
    const otherConflict: Answer = () => Response.json({ code: 'on_hold' }, { status: 409 })
    await assert.rejects(sent(chunksOf(resultOf(1)), otherConflict), ConflictError)
  })

  it('that come one by one wait a second at most, and are sent when the run is stopped (PROTOCOL §14.5)', async () => {
    const written: ((line: string) => void)[] = []
    async function* lines(): AsyncGenerator<Buffer> {
      for (;;) yield Buffer.from(`${await new Promise<string>((resolve) => written.push(resolve))}\n`)
    }
    const seen: number[] = []
    const note: Answer = (results) => {
      seen.push(...results.map(({ sequenceNumber }) => sequenceNumber))
      return taken(results)
    }
    const stopping = new AbortController()
    const sending = sent(lines(), note, stopping.signal)
    const write = async (index: number): Promise<void> => {
      await until(() => written.length > 0)
      written.shift()?.(resultOf(index))
    }
    await write(1)
    await until(() => seen.length === 1, { what: 'the first, while nothing else comes' })
    await write(2)
    // It is read by now, and waits for others.
    await until(() => written.length > 0)
    await delay(0)
    stopping.abort()
    const { totals } = await sending
    assert.deepEqual([seen, totals.sent], [[1, 2], 2])
  })
})
