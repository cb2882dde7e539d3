/** The receiver of webhooks is right under repeats, old messages and forged ones, behind `listen` and behind whatever posts to it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { createClient } from '@property-events/client'
import { spawnProgram, startMarket } from '../packages/cli/test/support/program.ts'
import type { Market } from '../packages/cli/test/support/program.ts'
import { freePorts } from '../packages/server/test/support/free-ports.ts'
import { until } from '../packages/server/test/support/until.ts'

const file = join(import.meta.dirname, 'webhook-receiver.ts')
const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
const home = '7d1c3a54-5c1e-4c4f-8e0b-000000000051'

describe('the receiver of webhooks', () => {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-webhook-'))
  let market: Market
  let receiver: ChildProcess
  let listener: ChildProcess
  let url = ''
  let port = 0

  async function startReceiver(): Promise<void> {
    const environment = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port), NODE_NO_WARNINGS: '1' }
    receiver = spawn(process.execPath, [file, join(folder, 'website.db')], {
      env: environment,
      stdio: 'ignore',
    })
    const isUp = () =>
      fetch(url, { method: 'POST' }).then(
        () => true,
        () => false,
      )
    await until(isUp, { what: 'the receiver' })
  }
  const address = () => {
    const database = new DatabaseSync(join(folder, 'website.db'), { readOnly: true, timeout: 10_000 })
    try {
      return database.prepare('SELECT address FROM property WHERE reference = ?').get(home)?.['address']
    } finally {
      database.close()
    }
  }
  const publish = (display_address: string, published = true) =>
    createClient({ baseUrl: market.url, key: market.publishKey }).publish([
      { payload: { agent_ref: home, published, address: { display_address } } },
    ])

  before(async () => {
    market = await startMarket()
    ;[port = 0] = await freePorts(1)
    url = `http://127.0.0.1:${port}/`
    await startReceiver()
    const environment = { PROPERTY_EVENTS_URL: market.url, PROPERTY_EVENTS_KEY: market.readKey }
    listener = spawnProgram(['listen', '--forward-to', url, '--secret', secret, '--after', '0'], {
      environment,
    })
    listener.stdout?.resume()
    listener.stderr?.resume()
  })
  after(async () => {
    listener.kill('SIGKILL')
    receiver.kill('SIGKILL')
    await market.close()
    rmSync(folder, { recursive: true })
  })

  it('has the property as it was last published, also when it was killed meanwhile, and not once it is withdrawn', async () => {
    await publish('1 Heol y Môr – £450,000')
    await until(() => address() === '1 Heol y Môr – £450,000', { what: 'the first version' })
    const ended = once(receiver, 'exit')
    receiver.kill('SIGKILL')
    await ended
    await publish('2 Heol y Môr 🏡')
    await startReceiver()
    await until(() => address() === '2 Heol y Môr 🏡', { what: 'the version that was published meanwhile' })
    await publish('2 Heol y Môr 🏡', false)
    await until(() => address() === null, { what: 'the withdrawal' })
    await publish('3 Heol y Môr')
    await until(() => address() === '3 Heol y Môr', { what: 'the version after it' })
  })

  it('ignores what it has seen, what is older, other types, and refuses what nobody has signed', async () => {
    const { items } = await createClient({ baseUrl: market.url, key: market.readKey }).list({ pageSize: 100 })
    const [head] = await createClient({ baseUrl: market.url, key: market.readKey }).heads()
    const send = (type: string, event: object, key = secret) => {
      const body = JSON.stringify({
        type,
        timestamp: new Date().toISOString(),
        data: { feed: 'property', epoch: head?.epoch, event },
      })
      const at = new Date()
      const headers = {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(key).sign('msg_1', at, body),
      }
      return fetch(url, { method: 'POST', body, headers }).then(({ status }) => status)
    }
    for (const event of [...items, ...items.toReversed()])
      assert.equal(await send('property.event', event), 204)
    assert.equal(address(), '3 Heol y Môr')
    assert.equal(await send('feed.epochChanged', {}), 204)
    const forged = { ...items[0], sequenceNumber: 999_999 }
    assert.equal(await send('property.event', forged, `whsec_${Buffer.alloc(32, 6).toString('base64')}`), 400)
    assert.equal(address(), '3 Heol y Môr')
    assert.equal((await fetch(url, { method: 'POST', body: 'x'.repeat(9 * 2 ** 20) })).status, 413)
  })
})
