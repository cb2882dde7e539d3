/** `EventSource` of a real browser, through a proxy of the page's own origin that adds the key (PROTOCOL §13). */
import assert from 'node:assert/strict'
import { createServer, request } from 'node:http'
import type { IncomingHttpHeaders, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { startBrowser, withBrowser } from '../support/browser.ts'
import { call, publish } from '../support/http-client.ts'
import { property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const path = '/v1/property-events'

/** Keeps what the stream says, as the browser understands it. */
const html = `<!doctype html><meta charset="utf-8"><title>Feed</title><script>
  window.numbers = []
  window.marks = []
  window.ids = []
  const source = new EventSource('/feed${path}/stream?after=0')
  source.onmessage = ({ data, lastEventId }) => {
    numbers.push(JSON.parse(data).sequenceNumber)
    ids.push(lastEventId)
  }
  source.addEventListener('mark', ({ data, lastEventId }) => marks.push([lastEventId, JSON.parse(data).next]))
</script>`

interface Proxy {
  readonly port: number
  /** Headers of each request that came for the stream. */
  readonly asked: readonly IncomingHttpHeaders[]
  /** Ends all connections of streams. */
  cut(): void
  close(): Promise<void>
}

async function startProxy(service: TestService): Promise<Proxy> {
  const asked: IncomingHttpHeaders[] = []
  const open = new Set<Socket>()
  const server: Server = createServer((incoming, answer) => {
    if (incoming.url?.startsWith('/feed/') !== true) {
      answer.setHeader('content-type', 'text/html; charset=utf-8').end(html)
      return
    }
    asked.push(incoming.headers)
    open.add(incoming.socket)
    const { 'last-event-id': lastId } = incoming.headers
    const headers = {
      'x-api-key': service.tenant.readKey,
      ...(lastId === undefined ? {} : { 'last-event-id': String(lastId) }),
    }
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: service.port,
        path: incoming.url.slice('/feed'.length),
        agent: false,
        headers,
      },
      (given) => {
        answer.writeHead(given.statusCode ?? 502, {
          'content-type': given.headers['content-type'] ?? 'text/plain',
        })
        given.pipe(answer)
        given.on('error', () => answer.destroy())
      },
    )
    outgoing.on('error', () => answer.destroy())
    answer.on('close', () => outgoing.destroy())
    outgoing.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: AddressInfo = server.address() as AddressInfo
  return {
    port,
    asked,
    cut() {
      for (const socket of open) socket.destroy()
      open.clear()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

describe('an EventSource in a browser', withBrowser, () => {
  let service: TestService
  let proxy: Proxy
  let browser: Browser
  let page: Page
  before(async () => {
    service = await startTestService({ limits: { markEveryMs: 200 } })
    proxy = await startProxy(service)
    browser = await startBrowser()
    page = await browser.newPage()
    await publish(service, [
      { payload: property() },
      { payload: property({ details: { summary: 'ä\u2028🏠' } }) },
    ])
    await page.goto(`http://127.0.0.1:${proxy.port}/`, { timeout: 30_000 })
  })
  after(async () => {
    await browser.close()
    await proxy.close()
    await service.stop()
  })

  const told = (): Promise<readonly number[]> => page.evaluate('numbers')
  const ids = (): Promise<readonly string[]> => page.evaluate('ids')
  const feed = async (): Promise<{ readonly numbers: readonly number[]; readonly epoch: string }> => {
    const { text } = await call(service, `${path}?after=0`, { key: service.tenant.readKey })
    const run: { readonly items: readonly { readonly sequenceNumber: number }[]; readonly epoch: string } =
      JSON.parse(text)
    return { numbers: run.items.map(({ sequenceNumber }) => sequenceNumber), epoch: run.epoch }
  }
  const hasAll = async () => {
    const { numbers } = await feed()
    return (await told()).length >= numbers.length
  }

  it('receives each event of the feed once, in order and with its id, as it is published (L1)', async () => {
    await until(hasAll, { what: 'what was there' })
    for (let round = 0; round < 5; round += 1) await publish(service, [{ payload: property() }])
    await until(hasAll, { what: 'what was published' })
    const { numbers, epoch } = await feed()
    assert.deepEqual(await told(), numbers)
    assert.deepEqual(
      await ids(),
      numbers.map((number) => `${epoch}.${number}`),
    )
    const marks: readonly (readonly [string, number])[] = await page.evaluate('marks')
    assert.ok(marks.length > 0)
    for (const [id, next] of marks) assert.equal(id, `${epoch}.${next}`)
  })

  it('reconnects by itself when it is cut, and continues after its last id (L1)', async () => {
    const before = proxy.asked.length
    proxy.cut()
    await publish(service, [{ payload: property() }, { payload: property() }])
    await until(hasAll, { what: 'what was published meanwhile' })
    const { numbers, epoch } = await feed()
    assert.deepEqual(await told(), numbers)
    const again = proxy.asked.at(-1)
    assert.ok(proxy.asked.length > before)
    assert.match(String(again?.['last-event-id']), new RegExp(`^${epoch}\\.\\d+$`))
  })
})
