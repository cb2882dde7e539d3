/** `wait` on `/v1/heads`: one connection for all feeds of a key (PROTOCOL §13.3). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { scopes } from '@property-events/protocol'
import { call, problemOf, publish } from '../support/http-client.ts'
import type { Answer, Call } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import { until } from '../support/until.ts'
import { askAndWait } from '../support/waiting-requests.ts'

interface Heads {
  readonly heads: readonly {
    readonly tenantId: string
    readonly feed: string
    readonly sequenceNumber: number
  }[]
  readonly next: string
}

const headsOf = (answer: Answer): Heads => {
  assert.equal(answer.status, 200, answer.text)
  return JSON.parse(answer.text)
}
const names = ({ heads }: Heads) => heads.map(({ tenantId, feed }) => `${tenantId} ${feed}`)

onEngines('a reader of many feeds that waits', { limits: { waitingPerKey: 3 } }, (service) => {
  const keyOfBoth = async () => {
    const { tenant, otherTenant } = service()
    const grants = [tenant, otherTenant].map(({ tenantId }) => ({ tenantId, scopes }))
    return service().issue({ grants })
  }
  const ask = (key: string, query: string, more: Call = {}) =>
    call(service(), `/v1/heads?${query}`, { ...more, key })

  /** Asks, and resolves once the service waits. */
  const begin = (key: string, query: string, more: Call = {}) =>
    askAndWait(service(), 'heads', () => ask(key, query, more))

  it('is answered with each feed that moves, and with that alone (PROTOCOL §13, L2)', async () => {
    const { text: key } = await keyOfBoth()
    let { next } = headsOf(await ask(key, 'wait=30'))
    const { tenant, otherTenant } = service()
    for (const [owner, feed] of [
      [tenant, 'property'],
      [otherTenant, 'contact'],
      [otherTenant, 'property'],
    ] as const) {
      const { answer, isAnswered } = await begin(key, `since=${next}&wait=30`)
      assert.equal(isAnswered(), false)
      const payload = feed === 'property' ? property() : contact()
      const { events } = await publish(service(), { payload }, { key: owner.publishKey, feed })
      const told = await answer
      const moved = headsOf(told)
      assert.equal(told.headers['cache-control'], 'no-store')
      assert.deepEqual(names(moved), [`${owner.tenantId} ${feed}`])
      assert.equal(moved.heads[0]?.sequenceNumber, events[0]?.sequenceNumber)
      ;({ next } = moved)
    }
  })

  it('misses nothing that is published before it asks again (PROTOCOL §13, P2)', async () => {
    const { text: key } = await keyOfBoth()
    const { tenant, otherTenant } = service()
    let { next } = headsOf(await ask(key, 'wait=30'))
    const seen = new Map<string, number>()
    const last = new Map<string, number>()
    const publishing = Promise.all(
      [tenant, otherTenant].map(async (owner) => {
        for (let n = 0; n < 15; n += 1) {
          const { events } = await publish(service(), { payload: property() }, { key: owner.publishKey })
          last.set(`${owner.tenantId} property`, events.at(-1)?.sequenceNumber ?? 0)
        }
      }),
    )
    const isDone = { value: false }
    void publishing.then(() => (isDone.value = true))
    const hasAll = () =>
      isDone.value && [...last].every(([name, sequenceNumber]) => seen.get(name) === sequenceNumber)
    await until(
      async () => {
        const moved = headsOf(await ask(key, `since=${next}&wait=1`))
        for (const { tenantId, feed, sequenceNumber } of moved.heads)
          seen.set(`${tenantId} ${feed}`, sequenceNumber)
        ;({ next } = moved)
        return hasAll()
      },
      { what: 'every change' },
    )
    await publishing
  })

  it('is answered without feeds when its time is over, for no token (PROTOCOL §13, D10)', async () => {
    const { text: key } = await keyOfBoth()
    const { next } = headsOf(await ask(key, 'wait=1'))
    const left = async () => {
      const { headers } = await ask(key, `since=${next}`)
      return Number(/r=(\d+)/.exec(String(headers['ratelimit']))?.[1])
    }
    const before = await left()
    assert.deepEqual(headsOf(await ask(key, `since=${next}&wait=1`)).heads, [])
    assert.ok((await left()) >= before - 1)
  })

  it('hears of its own tenants alone, and of the one that it names (P10, PROTOCOL §2)', async () => {
    const { tenant, otherTenant } = service()
    const { text: key } = await keyOfBoth()
    const named = { headers: { 'x-tenant': tenant.tenantId } }
    const { next } = headsOf(await ask(key, 'wait=30', named))
    const own = headsOf(await ask(tenant.readKey, 'wait=30'))
    const waiting = [
      await begin(key, `since=${next}&wait=30`, named),
      await begin(tenant.readKey, `since=${own.next}&wait=30`),
    ]
    await publish(service(), { payload: property() }, { key: otherTenant.publishKey })
    await delay(50)
    assert.ok(waiting.every(({ isAnswered }) => !isAnswered()))
    await publish(service(), { payload: property() })
    for (const { answer } of waiting)
      assert.deepEqual(names(headsOf(await answer)), [`${tenant.tenantId} property`])
  })

  it('is refused for an invalid wait, and if its key already waits as often as it may (D19, L3)', async () => {
    const { text: key } = await keyOfBoth()
    for (const text of ['0', '31', '1.5', 'x', '']) {
      const answer = await ask(key, `wait=${text}`)
      assert.equal(answer.status, 400, text)
      assert.equal(problemOf(answer).errors?.[0]?.parameter, 'wait')
    }
    const { next } = headsOf(await ask(key, 'wait=1'))
    const gone = new AbortController()
    const three: Awaited<ReturnType<typeof begin>>[] = []
    while (three.length < 3) three.push(await begin(key, `since=${next}&wait=30`, { signal: gone.signal }))
    const refused = await ask(key, `since=${next}&wait=1`)
    assert.deepEqual([refused.status, problemOf(refused).code], [429, 'too_many_waiting'])
    gone.abort()
    for (const { answer } of three) await assert.rejects(answer)
    await until(async () => (await ask(key, 'wait=1')).status === 200, { what: 'a free place' })
  })

  it('ends with its key (D11)', async () => {
    const { text: key, keyId } = await keyOfBoth()
    const { next } = headsOf(await ask(key, 'wait=1'))
    const { answer } = await begin(key, `since=${next}&wait=30`)
    await service().storage.keys.revokeKey(keyId, Date.now(), 'cli:test')
    assert.equal(problemOf(await answer).code, 'key_revoked')
  })

  it('hears of an epoch that begins (D13, PROTOCOL §13)', async () => {
    const { text: key } = await keyOfBoth()
    const { tenantId } = service().tenant
    const { next } = headsOf(await ask(key, 'wait=1'))
    const { answer } = await begin(key, `since=${next}&wait=30`)
    await service().storage.startEpoch(0, 'cli:test', [{ tenantId, feed: 'property' }])
    assert.ok(names(headsOf(await answer)).includes(`${tenantId} property`))
  })
})
