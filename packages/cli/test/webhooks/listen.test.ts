/** `listen` with a receiver as a developer has it: one that is not there yet, refuses, repeats nothing wrongly, and verifies what it gets. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { createClient } from '@property-events/client'
import type { Client, Publication } from '@property-events/client'
import { until } from '../../../server/test/support/until.ts'
import { finished, run, spawnProgram, startMarket } from '../support/program.ts'
import type { Market } from '../support/program.ts'

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
const ref = (last: number) => `7d1c3a54-5c1e-4c4f-8e0b-${String(last).padStart(12, '0')}`
const home = (last: number, price: number): Publication => ({
  payload: {
    agent_ref: ref(last),
    published: true,
    address: { display_address: `${last} Heol y Môr, Aberdyfi 🏡` },
    price_information: { price, price_qualifier: 3 },
  },
})

interface Received {
  readonly type: string
  readonly data: {
    readonly feed: string
    readonly epoch: string
    readonly event: { readonly sequenceNumber: number; readonly payload: string }
  }
}

/** Verifies each request with a foreign library, and answers as it is told. */
class TestReceiver {
  readonly received: Received[] = []
  readonly ids: string[] = []
  answer: (message: Received, response: ServerResponse) => void = (_, response) =>
    response.writeHead(204).end()
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const headers = request.headers as Record<string, string>
        const message = new Webhook(secret).verify(Buffer.concat(chunks), headers) as Received
        this.received.push(message)
        this.ids.push(String(headers['webhook-id']))
        this.answer(message, response)
      })
    })
  }

  /** Resolves with its address. */
  async start(port = 0): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    const address = this.#server.address()
    assert.ok(address !== null && typeof address === 'object')
    return `http://localhost:${address.port}/hooks`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  get numbers(): readonly number[] {
    return this.received.map(({ data }) => data.event.sequenceNumber)
  }
}

describe('listen', () => {
  let market: Market
  let client: Client
  let environment: Readonly<Record<string, string>>
  const receivers: TestReceiver[] = []
  before(async () => {
    market = await startMarket()
    client = createClient({ baseUrl: market.url, key: market.publishKey })
    environment = { PROPERTY_EVENTS_URL: market.url, PROPERTY_EVENTS_KEY: market.readKey }
  })
  after(async () => {
    for (const receiver of receivers) receiver.close()
    await market.close()
  })

  const made = (): TestReceiver => {
    const receiver = new TestReceiver()
    receivers.push(receiver)
    return receiver
  }
  const started = (url: string, ...more: readonly string[]) => {
    const child = spawnProgram(['listen', '--forward-to', url, '--secret', secret, ...more], { environment })
    return { child, ended: finished(child) }
  }

  it('sends each event as the feed has it, signed, in order, and stops with Ctrl+C', async () => {
    const receiver = made()
    const url = await receiver.start()
    for (const price of [450_000, 440_000, 430_000])
      await client.publish([home(1, price), home(2, price + 1)])
    const { child, ended } = started(url, '--after', '0')
    await until(() => receiver.received.length === 6, { what: '6 messages' })
    await client.publish([home(1, 420_000)])
    await until(() => receiver.received.length === 7, { what: 'the new one' })
    const page = await createClient({ baseUrl: market.url, key: market.readKey }).list({ pageSize: 100 })
    const ofOne = (event: { readonly payload: string }) => event.payload.includes(ref(1))
    assert.deepEqual(
      receiver.received.map(({ data }) => data.event).filter(ofOne),
      page.items.filter(ofOne),
      'the events of a property, whole and in their order',
    )
    assert.deepEqual(new Set(receiver.received.map(({ type }) => type)), new Set(['property.event']))
    const [first] = receiver.received
    assert.equal(receiver.ids[0], `msg_${first?.data.epoch}_${first?.data.event.sequenceNumber}`)
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    assert.equal(code, 0, stderr)
    assert.match(stdout, new RegExp(`^ +\\d+  ${ref(1)}  204  \\d+ ms$`, 'm'))
  })

  it('sends a refused event again, nothing of its property before it, and others meanwhile', async () => {
    const receiver = made()
    const url = await receiver.start()
    let refusals = 1
    receiver.answer = ({ data }, response) => {
      const isRefused = data.event.payload.includes(ref(3)) && refusals-- > 0
      response.writeHead(isRefused ? 500 : 200).end(isRefused ? 'wedi torri £' : '')
    }
    const { next } = await createClient({ baseUrl: market.url, key: market.readKey }).after({
      after: 0,
      limit: 1_000,
    })
    const { child, ended } = started(url, '--after', String(next))
    await client.publish([home(3, 300_000), home(4, 310_000), home(3, 290_000)])
    await until(() => receiver.received.length === 4, { what: 'the refused one again, and all others' })
    const ofThree = receiver.received.filter(({ data }) => data.event.payload.includes(ref(3)))
    const [refused = 0, again, last = 0] = ofThree.map(({ data }) => data.event.sequenceNumber)
    assert.equal(again, refused)
    assert.ok(last > refused)
    assert.equal(receiver.ids.filter((id) => id.endsWith(`_${refused}`)).length, 2, 'under the same id')
    child.kill('SIGTERM')
    assert.match((await ended).stdout, /  500  /)
  })

  it('waits for a receiver that is not there yet, and then loses nothing', async () => {
    const first = made()
    const url = await first.start()
    first.close()
    const { port } = new URL(url)
    const { next } = await createClient({ baseUrl: market.url, key: market.readKey }).after({
      after: 0,
      limit: 1_000,
    })
    const { child, ended } = started(url, '--after', String(next), '--json')
    let lines = ''
    child.stdout?.on('data', (text: Buffer) => (lines += text.toString()))
    await client.publish([home(5, 500_000), home(6, 510_000)])
    await until(() => lines.includes('ECONNREFUSED'), { what: 'a try without a receiver' })
    const later = made()
    await later.start(Number(port))
    await until(() => later.received.length === 2, { what: 'both events' })
    assert.equal(new Set(later.numbers).size, 2)
    child.kill('SIGTERM')
    await ended
  })

  const wrong: readonly (readonly [args: readonly string[], words: RegExp])[] = [
    [['--forward-to', 'localhost:3000'], /must be an address such as http:\/\/localhost:3000\/hooks/],
    [['--forward-to', 'http://localhost:3000', '--secret', 'hush'], /must begin with whsec_/],
    [['--forward-to', 'http://localhost:3000', '--after', 'yesterday'], /--after is "yesterday"/],
    [['--forward-to', 'http://localhost:3000', '--feed', 'both'], /must be property or contact/],
    [[], /--forward-to/],
  ]
  for (const [args, words] of wrong) {
    it(`says what is wrong with: listen ${args.join(' ')}`, async () => {
      const { code, stderr } = await run(['listen', ...args], { environment })
      assert.equal(code, 1)
      assert.match(stderr, words)
    })
  }
})
