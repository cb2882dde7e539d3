/** Three processes on one machine and one PostgreSQL, as units behind a proxy: one service to whoever speaks to any of them. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { uuidV7 } from '@property-events/protocol'
import { sharedDatabases } from '../../../server/test/postgres/test-databases.ts'
import { makeTenant, placeOf } from '../support/make-tenant.ts'
import { removeFolder, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

const listPath = '/api/func/api/v1/events/getevents'

interface Item {
  readonly id: string
  readonly sequenceNumber: number
}

describe('three processes on one PostgreSQL', () => {
  const root = temporaryFolder()
  const nodes: Running[] = []
  let environment: Readonly<Record<string, string>>
  let keys: { readonly read: string; readonly publish: string }
  let turn = 0

  /** The next process, as a proxy spreads requests. */
  const nextUrl = (): string => nodes[(turn += 1) % nodes.length]?.line.url ?? ''
  const startNode = (name: string, ...more: readonly string[]): Promise<Running> =>
    start(['serve', '--data', join(root, name), '--port', '0', '--metrics-port', '0', ...more], {
      environment,
    })

  before(async () => {
    environment = {
      PROPERTY_EVENTS_DATABASE: await (await sharedDatabases()).create(),
      PROPERTY_EVENTS_KEY_PEPPER: 'the same for every process',
    }
    nodes.push(await startNode('0', '--rate-limit', '300/600'))
    for (const name of ['1', '2']) nodes.push(await startNode(name, '--rate-limit', '300/600'))
    const wanted = { read: ['read'], publish: ['publish'] }
    const made = await makeTenant(placeOf(environment), 'Tŷ Gwyn & Daughters £', wanted)
    keys = { read: made.keys.read.key, publish: made.keys.publish.key }
  })
  after(() => {
    for (const { child } of nodes) child.kill('SIGKILL')
    removeFolder(root)
  })

  async function publish(url: string, id = uuidV7(Date.now())): Promise<number> {
    const payload = { agent_ref: id, published: true, directions: 'Trowch i’r chwith – 🏡' }
    const answer = await fetch(`${url}/v1/property-events`, {
      method: 'POST',
      headers: { 'x-api-key': keys.publish, 'content-type': 'application/json' },
      body: JSON.stringify({ id, payload }),
    })
    assert.equal(answer.status, 201, await answer.clone().text())
    const receipt = (await answer.json()) as { readonly events: readonly { sequenceNumber: number }[] }
    return receipt.events[0]?.sequenceNumber ?? 0
  }

  async function list(url: string, query: string, headers: Readonly<Record<string, string>> = {}) {
    const answer = await fetch(`${url}${listPath}?${query}`, {
      headers: { 'x-api-key': keys.read, ...headers },
    })
    assert.equal(answer.status, 200, await answer.clone().text())
    return (await answer.json()) as { readonly items: readonly Item[]; readonly availableCount: number }
  }

  it('show an event on whichever is asked for its number (P8)', async () => {
    for (let times = 0; times < 30; times += 1) {
      const number = await publish(nextUrl())
      const page = await list(nextUrl(), `pageSize=1&page=${number}`, { 'x-feed-min-sequence': `${number}` })
      assert.deepEqual([page.availableCount, page.items[0]?.sequenceNumber], [number, number])
    }
  })

  it('let nobody who polls by the time of the request miss an event, whoever publishes meanwhile (P3)', async () => {
    const published: string[] = []
    const over = new AbortController()
    const publisher = async (): Promise<void> => {
      for (let times = 0; times < 25; times += 1) {
        const id = uuidV7(Date.now())
        await publish(nextUrl(), id)
        published.push(id)
      }
    }
    const poller = async (): Promise<ReadonlySet<string>> => {
      const seen = new Set<string>()
      let from = new Date().toISOString()
      const poll = async (): Promise<void> => {
        const asked = new Date().toISOString()
        for (const { id } of (await list(nextUrl(), `pageSize=1000&from=${from}`)).items) seen.add(id)
        from = asked
      }
      while (!over.signal.aborted) await poll()
      await poll()
      return seen
    }
    const pollers = [poller(), poller()]
    await Promise.all([publisher(), publisher(), publisher()])
    over.abort()
    for (const seen of await Promise.all(pollers)) {
      assert.deepEqual(
        published.filter((id) => !seen.has(id)),
        [],
      )
    }
  })

  it('lose nothing that one of them acknowledged before it was killed (P7)', async () => {
    const victim = nodes.pop()
    assert(victim !== undefined)
    const acknowledged: string[] = []
    const enough = Promise.withResolvers<void>()
    const publisher = async (): Promise<void> => {
      for (;;) {
        const id = uuidV7(Date.now())
        await publish(victim.line.url, id)
        acknowledged.push(id)
        if (acknowledged.length >= 20) enough.resolve()
      }
    }
    const publishing = Promise.allSettled([publisher(), publisher(), publisher()])
    await enough.promise
    await victim.stop('SIGKILL')
    await publishing
    const { items } = await list(nextUrl(), 'pageSize=1000')
    const stored = new Set(items.map(({ id }) => id))
    assert.deepEqual(
      acknowledged.filter((id) => !stored.has(id)),
      [],
    )
    assert.deepEqual(
      items.map(({ sequenceNumber }) => sequenceNumber),
      items.map((_, index) => index + 1),
    )
    for (const node of nodes) assert.equal((await node.stop()).code, 0)
  })
})
