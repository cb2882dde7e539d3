/** What all threads of a node have noted of consumers is in the answers about them, on whatever thread (PROTOCOL §14). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { addingOfAll } from '../../src/workers/adding-readings.ts'
import { call, listPath, publish } from '../support/http-client.ts'
import { property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

interface Seen {
  readonly consumers: readonly { readonly name: string; readonly state: string }[]
}

/** A thread that counts how often it is asked. `end`: it answers, since a thread that has ended counts like one that has added. */
function countingThread() {
  const waiting: ((error: Error) => void)[] = []
  let asked = 0
  return {
    asked: () => asked,
    end() {
      for (const reject of waiting.splice(0)) reject(new Error('a serving thread has ended'))
    },
    thread: {
      ask(): Promise<never> {
        asked += 1
        return new Promise((_, reject) => waiting.push(reject))
      },
    },
  }
}

describe('the addition of all threads', () => {
  it('is shared by all that ask before it begins, and is made once more for those that ask after that (PROTOCOL §14)', async () => {
    const all = [countingThread(), countingThread()]
    const asked = () => all.map((one) => one.asked())
    const addAll = addingOfAll(
      all.map(({ thread }) => thread),
      20,
    )
    const first = Array.from({ length: 50 }, () => addAll())
    await until(() => all.every((one) => one.asked() > 0), { what: 'the first addition' })
    assert.deepEqual(asked(), [1, 1])
    const later = Array.from({ length: 50 }, () => addAll())
    for (const one of all) one.end()
    await Promise.all(first)
    await until(() => all.every((one) => one.asked() > 1), { what: 'the second addition' })
    for (const one of all) one.end()
    await Promise.all(later)
    assert.deepEqual(asked(), [2, 2])
  })

  it('leaves out a thread that does not answer (PROTOCOL §14)', async () => {
    const [awake, hanging] = [countingThread(), countingThread()]
    const added = addingOfAll([awake.thread, hanging.thread])()
    await until(() => awake.asked() > 0, { what: 'the addition' })
    awake.end()
    await added
    assert.equal(hanging.asked(), 1)
  })

  it('pauses between additions, for a client that asks in a loop (PROTOCOL §14)', async () => {
    const ending = { ask: () => Promise.reject(new Error('a serving thread has ended')) }
    const addAll = addingOfAll([ending], 40)
    const beganMs = performance.now()
    for (let times = 0; times < 6; times += 1) await addAll()
    // No upper end: five pauses, of which a timer may take a millisecond.
    assert(performance.now() - beganMs >= 5 * 39)
  })
})

describe('a service on three threads', () => {
  it('answers with what each of them has sent a moment ago (PROTOCOL §14)', async () => {
    const service = await startTestService({ engine: 'threads' })
    after(() => service.stop())
    const { tenantId, publishKey } = service.tenant
    const agentRef = randomUUID()
    await publish(service, [{ payload: property({ agent_ref: agentRef }) }])
    const site = await service.issue({ grants: [{ tenantId, scopes: ['property:read'] }] })
    // Each request is on a connection of its own, and the system gives connections to any of the threads.
    const names = Array.from({ length: 16 }, (_, index) => `site-${index}`)
    for (const name of names) {
      const headers = { 'x-feed-consumer': name }
      assert.equal((await call(service, listPath, { key: site.text, headers })).status, 200)
    }
    // One connection, so that one thread answers however often it is asked.
    const connection = new Agent({ keepAlive: true, maxSockets: 1 })
    after(() => connection.destroy())
    const namesSent = async (): Promise<ReadonlySet<string>> => {
      const url = `http://127.0.0.1:${service.port}/v1/properties/${agentRef}/consumers`
      const asked = request(url, { agent: connection, headers: { 'x-api-key': publishKey } }).end()
      const [answer]: IncomingMessage[] = await once(asked, 'response')
      assert(answer !== undefined)
      ports.add(answer.socket.localPort)
      const { consumers }: Seen = JSON.parse(await text(answer))
      return new Set(consumers.filter(({ state }) => state === 'sent').map(({ name }) => name))
    }
    const ports = new Set<number | undefined>()
    // A machine that is busy may take longer than a thread is waited for; by themselves threads add after 25 s at the earliest.
    await until(async () => (await namesSent()).size === names.length, {
      what: 'the notes of all threads',
      timeoutMs: 15_000,
    })
    assert.deepEqual(await namesSent(), new Set(names))
    assert.equal(ports.size, 1)
  })
})
