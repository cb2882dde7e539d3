/** A server that is broken or hostile cannot fill the memory of a reader (PROTOCOL §8). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { text } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import { eventOf, eventsOf, ownReadsOver, pagesOver } from '../support/small-feed.ts'

const reader = new URL('../support/hostile-reader.ts', import.meta.url).pathname
/** Beyond what the reader takes when all is well: 60 were measured on an idle machine, and 64 were exceeded on a busy one. */
const spareMib = 96

const head = {
  tenantId: 't',
  feed: 'property',
  sequenceNumber: 9,
  createdDate: null,
  epoch: 'a',
  revision: 0,
}
const snapshotHeaders = { 'x-feed-head': '9', 'x-feed-epoch': 'a', 'x-feed-revision': '0' }
const event = JSON.stringify(eventOf(4, 'p4'))
const inPayload = event.slice(0, event.indexOf('"payload":"') + 11)
const page = '{"page":1,"pageSize":100,"availableCount":900,"totalPages":9,"items":['
/** Of Welsh and pictures: two units for some characters. */
const filling = Buffer.from('Tŷ Gwyn £ – 😀 '.repeat(2_500))
const large = JSON.stringify({ ...eventOf(4, 'p4'), payload: 'x'.repeat(300 * 2 ** 10) })

interface Attack {
  readonly way: 'list' | 'get' | 'sync' | 'follow'
  /** Where the attack is; other paths are answered as usual. */
  readonly path: RegExp
  readonly headers?: Readonly<Record<string, string>>
  readonly status?: number
  readonly begin: string
  /** Sent again and again. */
  readonly rest: string | Buffer
  readonly words: RegExp
  /** The server has only the contract. */
  readonly isPlain?: true
  /** The answer ends after so many times `rest`. */
  readonly times?: number
}

const attacks: Readonly<Record<string, Attack>> = {
  'a page without end, of one string': {
    way: 'list',
    path: /getevents/,
    begin: `${page}${inPayload}`,
    rest: filling,
    words: /longer than \d+ bytes/,
  },
  'a page without end, of events': {
    way: 'sync',
    isPlain: true,
    path: /getevents/,
    begin: page,
    rest: `${event},`,
    words: /longer than \d+ bytes/,
  },
  'a page without end, of levels': {
    way: 'list',
    path: /getevents/,
    begin: page,
    rest: '['.repeat(60_000),
    words: /longer than \d+ bytes/,
  },
  'a page of very many small values': {
    way: 'list',
    path: /getevents/,
    begin: `${page}0`,
    rest: ',[]'.repeat(20_000),
    times: 400,
    words: /values/,
  },
  'a page with a payload that is too long': {
    way: 'list',
    path: /getevents/,
    begin: `${page}${large}]}`,
    rest: ' ',
    times: 1,
    words: /payload of event 4/,
  },
  'an event without end': {
    way: 'get',
    path: /geteventbyid/,
    begin: inPayload,
    rest: filling,
    words: /longer than/,
  },
  'heads without end': {
    way: 'sync',
    path: /heads/,
    begin: '{"heads":[',
    rest: `${JSON.stringify(head)},`.repeat(300),
    words: /longer than/,
  },
  'a snapshot of one line without end': {
    way: 'sync',
    path: /snapshot/,
    headers: snapshotHeaders,
    begin: inPayload,
    rest: filling,
    words: /line of the snapshot/,
  },
  'a snapshot with a payload that is too long': {
    way: 'sync',
    path: /snapshot/,
    headers: snapshotHeaders,
    begin: `${large}\n`,
    rest: '\n',
    times: 1,
    words: /payload of event 4/,
  },
  'a run without end': {
    way: 'sync',
    path: /property-events\?/,
    begin: `{"next":9,"head":9,"items":[${inPayload}`,
    rest: filling,
    words: /longer than/,
  },
  'a refusal without end': {
    way: 'list',
    path: /getevents/,
    status: 400,
    begin: '{"detail":"',
    rest: filling,
    words: /400/,
  },
  'a stream of one line without end': {
    way: 'follow',
    path: /stream/,
    headers: { 'content-type': 'text/event-stream' },
    begin: 'data: ',
    rest: filling,
    words: /aborted/,
  },
  'a stream of one message without end': {
    way: 'follow',
    path: /stream/,
    headers: { 'content-type': 'text/event-stream' },
    begin: '',
    rest: 'data: £ 😀\n'.repeat(5_000),
    words: /aborted/,
  },
  'a stream of one comment without end': {
    way: 'follow',
    path: /stream/,
    headers: { 'content-type': 'text/event-stream' },
    begin: ':',
    rest: filling,
    words: /aborted/,
  },
}

let attack: Attack | undefined
let isPacked = false
let usualMib = 0
const all = eventsOf(900)

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = `http://feed.example${request.url ?? ''}`
  if (attack === undefined || !attack.path.test(url)) return answerAsUsual(url, response)
  const { status = 200, headers = {}, begin, rest, times = Infinity } = attack
  response.writeHead(status, { ...headers, ...(isPacked ? { 'content-encoding': 'gzip' } : {}) })
  const out = isPacked ? createGzip() : response
  if (out !== response) out.pipe(response)
  out.on('error', () => undefined)
  out.write(begin)
  const closed = once(response, 'close')
  let sent = 0
  for (; sent < times && !response.destroyed; sent += 1) {
    if (!out.write(rest)) await Promise.race([once(out, 'drain'), closed])
  }
  out.end()
}

async function answerAsUsual(url: string, response: ServerResponse): Promise<void> {
  const isOwn = attack?.isPlain !== true && url.includes('/v1/') && !url.includes('/events/')
  const feed = isOwn ? ownReadsOver(() => ({ tenantId: 't', epoch: 'a', events: all })) : pagesOver(() => all)
  const usual = await feed(url)
  response.writeHead(usual.status, Object.fromEntries(usual.headers))
  response.end(await usual.text())
}

describe('a reader of a server that is broken or hostile', () => {
  const server = createServer((request, response) => void answer(request, response))
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  async function readBy(way: string): Promise<{ readonly outcome: string; readonly mib: number }> {
    const { port } = server.address() as AddressInfo
    const child = spawn(process.execPath, [reader, `http://127.0.0.1:${port}`, way], {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 60_000,
    })
    const said = await text(child.stdout)
    assert.notEqual(said, '', `the reader was ended (${String(child.signalCode)})`)
    return JSON.parse(said) as { outcome: string; mib: number }
  }

  it('takes some memory when all is well', async (context) => {
    attack = undefined
    const { outcome, mib } = await readBy('list')
    assert.equal(outcome, 'listed')
    usualMib = mib
    context.diagnostic(`${mib} MiB`)
  })

  const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
  for (const [title, one] of Object.entries(attacks)) {
    for (const packed of [false, true]) {
      it(
        `refuses ${title}${packed ? ', compressed' : ''}, and takes at most ${spareMib} MiB more (PROTOCOL §8)`,
        { skip: packed && !isLong && one.way !== 'list' ? 'only in test:long' : false },
        async (context) => {
          attack = one
          isPacked = packed
          const { outcome, mib } = await readBy(one.way)
          context.diagnostic(`${mib - usualMib} MiB more: ${outcome}`)
          assert.match(outcome, one.words)
          assert.ok(mib - usualMib <= spareMib, `${mib} MiB instead of ${usualMib}`)
        },
      )
    }
  }
})
