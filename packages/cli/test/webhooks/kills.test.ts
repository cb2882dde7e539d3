/** Webhooks of processes that are killed: what receivers have got afterwards (W1, W2, W3, W5). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { uuidV7 } from '@property-events/protocol'
import type { MadeWebhook, Webhook } from '@property-events/protocol/wire'
import { sharedDatabases } from '../../../server/test/postgres/test-databases.ts'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { until } from '../../../server/test/support/until.ts'
import { makeTenant, placeOf } from '../support/make-tenant.ts'
import { removeFolder, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

/** As many events are begun beyond what is written (W3). */
const window = 64
const homes = Array.from({ length: 12 }, () => uuidV7(Date.now()))
const toThisMachine = [
  '--webhook-allow-http',
  '--webhook-allow-networks',
  '127.0.0.0/8',
  '--webhook-answers',
  'all',
]

interface Got {
  readonly path: string
  readonly id: string
  readonly home: string
  readonly number: number
}

class Receiver {
  readonly got: Got[] = []
  readonly #server: Server
  constructor() {
    this.#server = createServer((request, response) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => {
        const {
          data,
        }: {
          readonly data: { readonly event: { readonly sequenceNumber: number; readonly payload: string } }
        } = JSON.parse(Buffer.concat(pieces).toString())
        const { agent_ref: home }: { readonly agent_ref: string } = JSON.parse(data.event.payload)
        const id = String(request.headers['webhook-id'])
        this.got.push({ path: request.url ?? '', id, home, number: data.event.sequenceNumber })
        response.writeHead(204).end()
      })
    })
  }
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    assert.ok(address !== null && typeof address === 'object')
    return `http://127.0.0.1:${address.port}`
  }
  of(path: string): readonly Got[] {
    return this.got.filter((one) => one.path === path)
  }
  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

async function ask<T>(url: string, key: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  assert.ok(answer.ok, await answer.clone().text())
  const value: T = JSON.parse(await answer.text())
  return value
}

let edition = 0

/** Some events of each home; returns the last number. */
async function publish(url: string, key: string, count: number): Promise<number> {
  const events = Array.from({ length: count }, (_, n) => {
    const summary = `Tŷ ar lan y môr, argraffiad ${(edition += 1)} – £ 🏡`
    return { payload: { agent_ref: homes[n % homes.length], published: true, details: { summary } } }
  })
  const receipt: { readonly events: readonly { readonly sequenceNumber: number }[] } = await ask(
    url,
    key,
    '/v1/property-events',
    events,
  )
  return receipt.events.at(-1)?.sequenceNumber ?? 0
}

/** Everything came, each home in its order, and no more was repeated than the kills allow, each under its own id. */
function check(got: readonly Got[], last: number, kills: number): void {
  const first = new Map<number, Got>()
  for (const one of got) if (!first.has(one.number)) first.set(one.number, one)
  assert.equal(first.size, last)
  const reached = new Map<string, number>()
  for (const { home, number } of first.values()) {
    assert.ok((reached.get(home) ?? 0) < number, `${home} had ${reached.get(home)} before ${number}`)
    reached.set(home, number)
  }
  for (const { number, id } of got) assert.equal(id, first.get(number)?.id)
  assert.ok(got.length - first.size <= kills * window, `${got.length - first.size} repeats`)
}

describe('webhooks of a process that is killed', () => {
  const root = temporaryFolder()
  const receiver = new Receiver()
  const nodes: Running[] = []
  let address = ''
  before(async () => (address = await receiver.listen()))
  after(() => {
    for (const { child } of nodes) child.kill('SIGKILL')
    receiver.close()
    removeFolder(root)
  })

  const kills = isLongRun ? 200 : 3
  it(`lose nothing, keep the order of each property and repeat at most a window, ${kills} times over (W1, W2, W3)`, async () => {
    const data = join(root, 'one')
    const serve = async (): Promise<Running> => {
      const running = await start([
        'serve',
        '--data',
        data,
        '--port',
        '0',
        '--metrics-port',
        '0',
        ...toThisMachine,
      ])
      nodes.push(running)
      return running
    }
    let node = await serve()
    const { keys } = await makeTenant({ data }, 'Tŷ Gwyn & Daughters £', {
      website: ['property:read', 'property:webhooks'],
      agency: ['property:publish'],
    })
    const { id } = await ask<MadeWebhook>(node.line.url, keys.website.key, '/v1/webhooks', {
      url: `${address}/one`,
      feed: 'property',
    })
    let last = 0
    for (let kill = 1; kill <= kills; kill += 1) {
      last = await publish(node.line.url, keys.agency.key, 96)
      const wanted = receiver.of('/one').length + ((kill * 37) % 90)
      await until(() => receiver.of('/one').length > wanted)
      node.child.kill('SIGKILL')
      await once(node.child, 'exit')
      node = await serve()
    }
    await until(async () => {
      const { cursor } = await ask<Webhook>(node.line.url, keys.website.key, `/v1/webhooks/${id}`)
      return cursor.settled === last
    })
    check(receiver.of('/one'), last, kills)
    await node.stop()
  })

  it(
    'go on from other nodes of a PostgreSQL, whether a node stops, hangs or is killed (W1, W2, W3, W5)',
    {
      skip: !isLongRun && 'it waits for leases to end',
    },
    async () => {
      const environment = {
        PROPERTY_EVENTS_DATABASE: await (await sharedDatabases()).create(),
        PROPERTY_EVENTS_KEY_PEPPER: 'the same for every process',
      }
      const serve = async (name: string): Promise<Running> => {
        const args = [
          'serve',
          '--data',
          join(root, name),
          '--port',
          '0',
          '--metrics-port',
          '0',
          ...toThisMachine,
        ]
        const running = await start(args, { environment })
        nodes.push(running)
        return running
      }
      const three = [await serve('a'), await serve('b'), await serve('c')]
      const { keys } = await makeTenant(placeOf(environment), 'Hill & Co £', {
        website: ['property:read', 'property:webhooks'],
        agency: ['property:publish'],
      })
      const url = three[2]?.line.url ?? ''
      const paths = Array.from({ length: 6 }, (_, n) => `/many/${n}`)
      const ids: string[] = []
      for (const path of paths) {
        const made = await ask<MadeWebhook>(url, keys.website.key, '/v1/webhooks', {
          url: address + path,
          feed: 'property',
        })
        ids.push(made.id)
      }
      await publish(url, keys.agency.key, 96)
      await until(() => receiver.of('/many/5').length > 10)
      three[0]?.child.kill('SIGKILL')
      await publish(url, keys.agency.key, 96)
      three[1]?.child.kill('SIGSTOP')
      const last = await publish(url, keys.agency.key, 96)
      const isSettled = async (id: string): Promise<boolean> =>
        (await ask<Webhook>(url, keys.website.key, `/v1/webhooks/${id}`)).cursor.settled === last
      for (const id of ids) await until(() => isSettled(id), { timeoutMs: 120_000, everyMs: 200 })
      three[1]?.child.kill('SIGCONT')
      const end = await publish(url, keys.agency.key, 96)
      await three[1]?.stop()
      for (const id of ids)
        await until(
          async () => {
            const { cursor } = await ask<Webhook>(url, keys.website.key, `/v1/webhooks/${id}`)
            return cursor.settled === end
          },
          { timeoutMs: 60_000, everyMs: 200 },
        )
      for (const path of paths) check(receiver.of(path), end, 2)
    },
  )
})
