/** What `publish` makes of the answers to its requests: lines that have to be sent in smaller ones, and events nobody sent. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { listEvents, run, startMarket } from '../support/program.ts'
import type { Market } from '../support/program.ts'

let market: Market
before(async () => {
  market = await startMarket()
})
after(() => market.close())

function fileOf(entries: readonly object[]): string {
  const file = join(market.folder, `${randomUUID()}.ndjson`)
  writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  return file
}

interface Summary {
  readonly published: number
  readonly repeated: number
  readonly unchanged: number
  readonly refused: number
}

async function publish(file: string, url = market.url) {
  const environment = {
    PROPERTY_EVENTS_URL: url,
    PROPERTY_EVENTS_KEY: market.publishKey,
    // What the program notes of a run that is under way.
    XDG_STATE_HOME: join(market.folder, 'state'),
  }
  const { code, stdout, stderr } = await run(['publish', file, '--json'], { environment })
  const { published, repeated, unchanged, refused } = JSON.parse(stdout) as Summary
  return { code, stdout, stderr, counts: { published, repeated, unchanged, refused } }
}

/** A proxy before the service that lets no request through for which `isTooLarge`. Answers its address. */
async function narrowProxy(
  context: TestContext,
  isTooLarge: (lines: readonly string[]) => boolean,
): Promise<string> {
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    if (isTooLarge(body.trimEnd().split('\n'))) {
      response.writeHead(413, { 'content-type': 'text/html' }).end('<h1>Request Entity Too Large</h1>')
      return
    }
    const answer = await fetch(`${market.url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: {
        'x-api-key': String(request.headers['x-api-key']),
        'content-type': String(request.headers['content-type']),
      },
      ...(request.method === 'POST' ? { body } : {}),
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  }
  const server = createServer((request, response) => void pass(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The references of the feed's last events, in its order. */
async function lastRefs(count: number): Promise<readonly string[]> {
  const { body } = await listEvents(market.url, market.readKey, 'pageSize=1000')
  return body.items.slice(-count).map(({ payload }) => {
    const { agent_ref } = JSON.parse(String(payload)) as { agent_ref: string }
    return agent_ref
  })
}

describe('publish, if requests of its size are refused', () => {
  const entries = (count: number) =>
    Array.from({ length: count }, () => ({ payload: { agent_ref: randomUUID(), published: false } }))
  const refsOf = (given: ReturnType<typeof entries>) => given.map(({ payload }) => payload.agent_ref)

  it('sends what a proxy finds too large in smaller requests, every line once and in order (413)', async (context) => {
    const given = entries(7)
    const url = await narrowProxy(context, (lines) => lines.length > 2)
    const { code, stderr, counts } = await publish(fileOf(given), url)
    assert.equal(code, 0, stderr)
    assert.deepEqual(counts, { published: 7, repeated: 0, unchanged: 0, refused: 0 })
    assert.deepEqual(await lastRefs(7), refsOf(given))
  })

  it('refuses the one line that is too large by itself, says which, and publishes the others (413)', async (context) => {
    const given = entries(6)
    const large = given[3]?.payload.agent_ref ?? ''
    const url = await narrowProxy(context, (lines) => lines.some((line) => line.includes(large)))
    const { code, stdout, counts } = await publish(fileOf(given), url)
    assert.equal(code, 1)
    assert.deepEqual(counts, { published: 5, repeated: 0, unchanged: 0, refused: 1 })
    assert.match(stdout, /"line":4\b/)
    assert.deepEqual(await lastRefs(5), refsOf(given.toSpliced(3, 1)))
  })
})

describe('publish, when the service adds an event of its own', () => {
  it('counts the lines of the file and not the event that a change of category makes (D23)', async () => {
    const agent_ref = randomUUID()
    const lines = (['sales', 'lettings', 'sales'] as const).map((category) => ({
      id: randomUUID(),
      category,
      payload: { agent_ref, published: true, price_information: { price: 1_000 } },
    }))
    const file = fileOf(lines)
    const first = await publish(file)
    assert.equal(first.code, 0, first.stderr)
    assert.deepEqual(first.counts, { published: 3, repeated: 0, unchanged: 0, refused: 0 })
    // The feed has the three, and the removal from the category before for each of the two changes.
    assert.deepEqual(
      await lastRefs(5),
      Array.from({ length: 5 }, () => agent_ref),
    )
    const again = await publish(file)
    assert.equal(again.code, 0, again.stderr)
    assert.deepEqual(again.counts, { published: 0, repeated: 3, unchanged: 0, refused: 0 })
  })
})
