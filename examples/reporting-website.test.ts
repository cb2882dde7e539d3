/** From a publisher to "live on that site", in processes of their own: publish, feed, website, verdicts back, metrics (PROTOCOL §14). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createClient } from '../packages/client/src/index.ts'
import type { PropertyConsumer } from '../packages/client/src/index.ts'
import { run, startMarket } from '../packages/cli/test/support/program.ts'
import type { Market } from '../packages/cli/test/support/program.ts'
import { freePorts } from '../packages/server/test/support/free-ports.ts'
import { property } from '../packages/server/test/support/property.ts'
import { until } from '../packages/server/test/support/until.ts'

const program = join(import.meta.dirname, 'reporting-website.ts')

describe('a website that tells what became of properties', () => {
  let market: Market
  let site: ChildProcess
  let siteUrl = ''
  let written = ''

  before(async () => {
    market = await startMarket()
    const [port = 0] = await freePorts(1)
    siteUrl = `http://127.0.0.1:${port}`
    site = startSite()
  })
  after(async () => {
    await stopSite('SIGTERM')
    await market.close()
  })

  function startSite(): ChildProcess {
    const env = {
      ...process.env,
      PROPERTY_EVENTS_URL: market.url,
      PROPERTY_EVENTS_KEY: market.readKey,
      PROPERTY_EVENTS_CONSUMER: 'website',
      PORT: new URL(siteUrl).port,
    }
    const child = spawn(process.execPath, [program, join(market.folder, 'website.db')], { env })
    child.stderr.on('data', (text) => (written += String(text)))
    return child
  }
  async function stopSite(signal: NodeJS.Signals): Promise<void> {
    const ended = once(site, 'exit')
    if (site.exitCode !== null) return
    site.kill(signal)
    await ended
  }

  const publisher = () => createClient({ baseUrl: market.url, key: market.publishKey })
  const asPublisher = () => ({
    environment: { PROPERTY_EVENTS_URL: market.url, PROPERTY_EVENTS_KEY: market.publishKey },
  })

  /** What the publisher is told. */
  async function seenOf(agentRef: string): Promise<PropertyConsumer | undefined> {
    const seen = await publisher().delivery(agentRef)
    return seen?.consumers.find(({ name }) => name === 'website')
  }

  async function seenAs(agentRef: string, state: string): Promise<PropertyConsumer> {
    let seen: PropertyConsumer | undefined
    await until(
      async () => {
        seen = await seenOf(agentRef)
        return seen?.state === state
      },
      { what: `${state} of ${agentRef}; the website says: ${written}`, everyMs: 100 },
    )
    return seen ?? assert.fail()
  }

  /** Of the histogram, by consumer: how many were counted, and the sum of their seconds. */
  async function wentLive(): Promise<ReadonlyMap<string, readonly [count: number, seconds: number]>> {
    const text = await (await fetch(market.metricsUrl)).text()
    const valueOf = (part: string, consumer: string): number => {
      const line = `property_events_publish_to_live_seconds_${part}{consumer="${consumer}"} `
      return Number(
        text
          .split('\n')
          .find((one) => one.startsWith(line))
          ?.slice(line.length),
      )
    }
    const consumers = [...text.matchAll(/publish_to_live_seconds_count\{consumer="([^"]*)"\}/g)]
    return new Map(
      consumers.map(([, name = '']) => [name, [valueOf('count', name), valueOf('sum', name)] as const]),
    )
  }

  const photograph = [{ media_type: 1, media_url: 'https://photos.example/1.jpg', sort_order: 1 }]
  const home = (agentRef: string, more: object) => ({ payload: property({ agent_ref: agentRef, ...more }) })

  it('shows each property, and its publisher sees which are live, held back and refused, and why (PROTOCOL §14)', async () => {
    const [shown, held, refused] = [randomUUID(), randomUUID(), randomUUID()]
    const file = join(market.folder, 'homes.ndjson')
    const homes = [
      home(shown, { media: photograph }),
      home(held, { media: [] }),
      home(refused, { media: photograph, address: {} }),
    ]
    writeFileSync(file, homes.map((one) => `${JSON.stringify(one)}\n`).join(''))
    const { code, stderr } = await run(['publish', file], asPublisher())
    assert.equal(code, 0, stderr)
    const live = await seenAs(shown, 'live')
    assert.equal(live.url, `${siteUrl}/homes/${shown}`)
    const why = await run(['why', shown], asPublisher())
    assert.match(why.stdout, /website  Live since .*: http:\/\/127\.0\.0\.1:\d+\/homes\/[0-9a-f-]+\.\n/)
    assert.equal((await fetch(live.url ?? '')).status, 200)
    assert.equal((await seenAs(held, 'held')).code, 'no_photograph')
    assert.equal((await seenAs(refused, 'refused')).code, 'no_address')
    assert.equal((await fetch(`${siteUrl}/homes/${held}`)).status, 404)
  })

  it('loses no verdict when it is killed, and says that a removed property is down (PROTOCOL §14)', async () => {
    const agentRef = randomUUID()
    await publisher().publish(home(agentRef, { media: photograph }))
    await seenAs(agentRef, 'live')
    await stopSite('SIGKILL')
    await publisher().publish({ remove: { agentRef } })
    assert.equal((await seenOf(agentRef))?.state === 'live', false)
    site = startSite()
    assert.equal((await seenAs(agentRef, 'live')).url, null)
    assert.equal((await fetch(`${siteUrl}/homes/${agentRef}`)).status, 410)
  })

  it('the time from publishing to live is in the metrics by consumer, and no tenant is named (PROTOCOL §14)', async () => {
    const { keyId } = await seenAs(await published(), 'live')
    const consumer = `${keyId}/website`
    const [count = 0, seconds = 0] = (await wentLive()).get(consumer) ?? []
    assert.ok(count >= 1 && seconds > 0 && seconds < count * 300, `${count} in ${seconds} s`)
    // A version that is said to be live again was live before.
    const environment = { PROPERTY_EVENTS_URL: market.url, PROPERTY_EVENTS_KEY: market.readKey }
    const agentRef = await published()
    const { event } = (await publisher().delivery(agentRef)) ?? assert.fail()
    await seenAs(agentRef, 'live')
    const before = (await wentLive()).get(consumer)
    const again = { agentRef, sequenceNumber: event.sequenceNumber, outcome: 'live' }
    const args = ['sync', join(market.folder, 'copy'), '--consumer', 'website', '--results', '-']
    const { code, stdout, stderr } = await run(args, { environment, input: `${JSON.stringify(again)}\n` })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^1 result accepted\n/)
    assert.deepEqual((await wentLive()).get(consumer), before)
    const text = await (await fetch(market.metricsUrl)).text()
    const lines = text.split('\n').filter((line) => line.startsWith('property_events_publish_to_live'))
    assert.ok(lines.every((line) => !line.includes(market.tenantId)))
  })

  async function published(): Promise<string> {
    const agentRef = randomUUID()
    await publisher().publish(home(agentRef, { media: photograph }))
    return agentRef
  }
})
