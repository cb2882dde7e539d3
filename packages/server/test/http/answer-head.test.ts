/** The head of an answer is made once, as text and as fields: both say the same of every kind of answer. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { answerHeads, statusOf } from '../../src/http/answer-head.ts'
import type { AnswerHeads } from '../../src/http/answer-head.ts'
import { crossOrigin } from '../../src/http/cross-origin.ts'
import type { Answer } from '../../src/http/exchange.ts'
import type { Exchange } from '../../src/http/routed.ts'
import { defaultLimits } from '../../src/http/limits.ts'
import { problemAnswer } from '../../src/http/problem/problem-answer.ts'
import { createRouter } from '../../src/http/router.ts'
import { createTokenBuckets } from '../../src/http/rate-limit/token-bucket.ts'
import { testRequest } from '../support/test-request.ts'

const body = {
  kind: 'whole',
  pieces: [Buffer.from('{}')],
  byteLength: 2,
  ownBytes: 2,
  release: () => undefined,
} as const
async function* pieces() {
  yield Buffer.from('{}')
}
const headers = { 'content-type': 'application/json', 'cache-control': 'private, no-cache' }
const feed = {
  sequenceNumber: 7,
  position: 7,
  created: 17_000_000_000_000_000n,
  epoch: 'an-epoch',
  revision: 2,
  thinned: 1,
}
const problem = (code: 'unauthorized' | 'rate_limited') =>
  problemAnswer({ code, headers: { 'retry-after': '3' } }, { instance: '/', requestId: 'r', basePath: '' })

const stream = {
  kind: 'stream',
  use: 'largePage',
  etag: '"a"',
  feed,
  pieces,
  release: () => undefined,
} as const

/** Each with the next, and again: what is kept of one answer must not turn up in another. */
const answers: readonly Answer[] = [
  { kind: 'notModified', headers, etag: '"a"', feed },
  { kind: 'notModified', headers, etag: '"a"', feed, completeUntil: 17_000_000_001_234_567n },
  { kind: 'notModified', headers: { vary: 'x-api-key' }, etag: '"b"', feed: undefined },
  { kind: 'pieces', headers, etag: '"a"', feed, body, coding: 'identity' },
  {
    kind: 'pieces',
    headers,
    etag: '"a"',
    feed,
    completeUntil: 17_000_000_001_234_567n,
    body,
    coding: 'identity',
  },
  { kind: 'pieces', headers, etag: undefined, feed: { ...feed, revision: 3 }, body, coding: 'gzip' },
  { ...stream, headers, byteLength: 2, coding: 'identity' },
  { kind: 'text', status: 201, headers, body: 'é' },
  { kind: 'text', status: 204, headers: { allow: 'GET' }, body: '' },
  problem('unauthorized'),
  problem('rate_limited'),
]
const buckets = createTokenBuckets({ limits: { perSecond: 2, burst: 5 }, clock: () => 0 })
const [own, tenant] = [buckets.of('key'), buckets.of('tenant', { perSecond: 1, burst: 3 })]
const taken = {
  limit: { own, hasOwnRate: false, tenant: undefined },
  tenantLeft: 0,
  isUnderWay: false,
  hasTenantPaid: false,
}
const spendings = [
  undefined,
  { ...taken, tenant: undefined, tokens: own.take(), tokensOf: 'key' },
  { ...taken, tenant, tokens: own.take(), tokensOf: 'key' },
  { ...taken, tenant, tokens: tenant.peek(), tokensOf: 'tenant' },
] as const

it('the head of an answer says the same as text and as fields, whatever came before it (D6, D10, D20)', () => {
  const shared = crossOrigin(['https://www.example.com'], '')
  for (const heads of [answerHeads(defaultLimits), answerHeads(defaultLimits, shared)]) saysTheSame(heads)
})

function saysTheSame(heads: AnswerHeads): void {
  const router = createRouter({ operations: [], basePath: '', limits: defaultLimits })
  const announced = { deprecation: '@1769817600', sunset: 'Sun, 31 Jan 2027 12:00:00 GMT' }
  for (const round of [0, 1, 2, 3]) {
    for (const [index, answer] of answers.entries()) {
      const routed = router('GET', '/')
      const exchange: Exchange = {
        request: testRequest(index % 2 === 0 ? {} : { origin: 'https://www.example.com' }),
        routed: (round + index) % 2 === 0 ? routed : { ...routed, headers: announced },
        answer,
        keyId: undefined,
        tenantId: undefined,
        access: undefined,
        spending: spendings[(round + index) % spendings.length],
        problem: undefined,
        flight: undefined,
        streamedBytes: 0,
        closes: false,
      }
      for (const isLast of [false, true]) {
        const [statusLine = '', ...lines] = heads.text(exchange, isLast).split('\r\n')
        assert.match(statusLine, new RegExp(`^HTTP/1\\.1 ${statusOf(answer)} \\w`))
        assert.deepEqual(lines.splice(-2), ['', ''])
        const said = lines.map((line) => {
          const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(line) ?? assert.fail(line)
          return [name.toLowerCase(), value] as const
        })
        // These are the connection's, which Node's HTTP writes itself.
        const own = said.splice(said.findIndex(([name]) => name === 'date'))
        assert.deepEqual(
          own.map(([name]) => name),
          isLast ? ['date', 'connection'] : ['date', 'connection', 'keep-alive'],
        )
        assert.ok(!Number.isNaN(Date.parse(own[0]?.[1] ?? '')))
        const { date, ...fields } = recordOf(heads.fields(exchange))
        assert.equal(date === undefined, fields['x-feed-complete-until'] === undefined)
        assert.deepEqual(said, Object.entries(fields))
      }
    }
  }
}

/** Of names and values in turn, none of them twice. */
function recordOf(fields: readonly string[]): Readonly<Record<string, string>> {
  const entries = fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []))
  assert.equal(new Set(entries.map(([name]) => name)).size, entries.length)
  return Object.fromEntries(entries)
}
