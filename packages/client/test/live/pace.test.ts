/** However a service asks for it, a client does not ask again and again without a pause, nor stays away for days. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient } from '../../src/index.ts'
import { urlOf } from '../support/small-feed.ts'

const heads = {
  heads: [{ tenantId: 't', feed: 'property', sequenceNumber: 3, createdDate: null, epoch: 'a', revision: 0 }],
  next: 'n',
}
const nothing = { items: [], next: 3, head: 3, epoch: 'a', revision: 0 }
const mark = (retry: string) =>
  `retry: ${retry}\nid: a.3\nevent: mark\ndata: {"next":3,"head":3,"revision":0}\n\n`
const stream = (text: string) => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
const crowded = (retryAfter: string) =>
  Response.json({ code: 'too_many_waiting' }, { status: 429, headers: { 'retry-after': retryAfter } })

/** The requests of ten minutes and the waits between them, on a clock that only waits move. */
async function follow(answer: (url: URL) => Response, many = false) {
  const ended = new AbortController()
  const told = { requests: new Map<string, number>(), waits: new Array<number>(), ms: 0 }
  const client = createClient({
    baseUrl: 'http://feed.example',
    key: 'k',
    now: () => told.ms,
    random: () => 0,
    sleep: async (ms) => {
      told.waits.push(ms)
      told.ms += ms
      if (told.ms > 600_000 || told.waits.length > 2_000) ended.abort()
    },
    fetch: async (input) => {
      const url = urlOf(input)
      const count = (told.requests.get(url.pathname) ?? 0) + 1
      told.requests.set(url.pathname, count)
      // Where nothing ever waits, the clock stands still.
      if (count > 2_000) ended.abort()
      return answer(url)
    },
  })
  const query = { signal: ended.signal, onTrouble: () => undefined }
  for await (const event of many ? client.followMany(query) : client.follow({ ...query, after: 3 }))
    void event
  const requests = [...told.requests.values()].reduce((sum, count) => sum + count, 0)
  return { ...told, all: requests, perSecond: requests / (told.ms / 1_000) }
}

describe('a client that follows', () => {
  for (const retry of ['0', '1', '100', '2000']) {
    it(`asks about once a second at most for streams that end at once with retry: ${retry}, and ever less often`, async () => {
      const answer = (url: URL) =>
        url.pathname.endsWith('/stream') ? stream(mark(retry)) : Response.json(heads)
      const { perSecond, waits } = await follow(answer)
      assert.ok(perSecond < 0.2, `${perSecond} requests a second`)
      assert.ok(
        waits.every((ms) => ms >= 1_000),
        waits.join(),
      )
      assert.ok((waits.at(-1) ?? 0) >= 20_000 && waits.every((ms) => ms <= 40_000), waits.join())
    })
  }

  it('asks about once a second at most when each stream brings one event and ends with retry: 0', async () => {
    let number = 3
    const answer = (url: URL) => {
      if (!url.pathname.endsWith('/stream')) return Response.json(heads)
      number += 1
      const event = JSON.stringify({ id: `e${number}`, sequenceNumber: number, tenantId: 't', payload: '{}' })
      return stream(`${mark('0').replaceAll(/3/g, String(number - 1))}id: a.${number}\ndata: ${event}\n\n`)
    }
    const { perSecond, waits } = await follow(answer)
    assert.ok(perSecond < 1.1 && waits.every((ms) => ms <= 2_000), `${perSecond} requests a second`)
  })

  it('waits half a minute, not days, when a stream says so', async () => {
    const answer = (url: URL) =>
      url.pathname.endsWith('/stream') ? stream(mark('604800000')) : Response.json(heads)
    const { waits } = await follow(answer)
    assert.ok(waits.length > 15 && waits.every((ms) => ms <= 40_000), waits.join())
  })

  for (const retryAfter of ['0', '999999999']) {
    it(`keeps its pace when there are too many waiting and Retry-After is ${retryAfter}`, async () => {
      const answer = (url: URL) => {
        if (url.pathname === '/v1/heads') return Response.json(heads)
        const waits = url.pathname.endsWith('/stream') || url.searchParams.has('wait')
        return waits ? crowded(retryAfter) : Response.json(nothing)
      }
      const { perSecond, waits } = await follow(answer)
      assert.ok(perSecond < 2.1, `${perSecond} requests a second`)
      assert.ok(
        waits.every((ms) => ms <= 500_000),
        waits.join(),
      )
    })
  }

  it('asks ever less often for long-polls that return at once', async () => {
    const answer = (url: URL) => {
      if (url.pathname.endsWith('/stream')) return new Response('no', { status: 404 })
      return Response.json(url.pathname === '/v1/heads' ? heads : nothing)
    }
    const { perSecond } = await follow(answer)
    assert.ok(perSecond < 0.2, `${perSecond} requests a second`)
  })

  it('asks ever less often for heads that return at once, whether they name feeds or not (PROTOCOL §11.5)', async () => {
    for (const named of [
      heads,
      { ...heads, heads: [] },
      { ...heads, heads: [{ ...heads.heads[0], sequenceNumber: 9 }] },
    ]) {
      let isFirst = true
      const answer = (url: URL) => {
        if (url.pathname !== '/v1/heads') return Response.json(nothing)
        const given = isFirst ? heads : named
        isFirst = false
        return Response.json(given)
      }
      const { perSecond } = await follow(answer, true)
      assert.ok(perSecond < 0.3, `${perSecond} requests a second`)
    }
  })
})
