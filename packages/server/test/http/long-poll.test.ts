/** `wait`: a run of events that is answered once there is one (PROTOCOL §13). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { call, problemOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { until } from '../support/until.ts'
import { askAndWait, waitingRequests } from '../support/waiting-requests.ts'

interface Run {
  readonly items: readonly { readonly sequenceNumber: number }[]
  readonly next: number
  readonly head: number
  readonly epoch: string
}

const runOf = (answer: Answer): Run => JSON.parse(answer.text)
const path = '/v1/property-events'

onEngines('a long-poll', { byNode: true, limits: { waitingPerKey: 3 } }, (service) => {
  const wait = (query: string, key = service().tenant.readKey) => call(service(), `${path}?${query}`, { key })
  const headNow = async () => runOf(await wait('after=0&limit=1')).head
  const key = () => ({ tenantId: service().tenant.tenantId, feed: 'property' }) as const

  /** Asks, and resolves once the service waits. */
  const begin = (query: string) => askAndWait(service(), 'long_poll', () => wait(query))

  it('answers at once if there is an event after the number (PROTOCOL §13)', async () => {
    await publish(service(), { payload: property() })
    const answer = await wait('after=0&wait=30&limit=1')
    assert.equal(answer.status, 200)
    assert.equal(runOf(answer).items.length, 1)
    assert.equal(answer.headers['cache-control'], 'no-store')
  })

  it('answers as soon as an event is published, with that event (PROTOCOL §13, L2)', async () => {
    const head = await headNow()
    const { answer, isAnswered } = await begin(`after=${head}&wait=30`)
    assert.equal(isAnswered(), false)
    const { events } = await publish(service(), [{ payload: property() }, { payload: property() }])
    const { items, next, head: now } = runOf(await answer)
    assert.deepEqual(
      items.map(({ sequenceNumber }) => sequenceNumber),
      events.map(({ sequenceNumber }) => sequenceNumber),
    )
    assert.equal(next, events.at(-1)?.sequenceNumber)
    assert.equal(now, next)
  })

  it('keeps to its limit, and says where to continue (PROTOCOL §13)', async () => {
    const head = await headNow()
    const { answer } = await begin(`after=${head}&wait=30&limit=2`)
    const three = Array.from({ length: 3 }, () => ({ payload: property() }))
    const { events } = await publish(service(), three)
    const first = runOf(await answer)
    assert.equal(first.items.length, 2)
    assert.equal(first.next, events[1]?.sequenceNumber)
    const rest = runOf(await wait(`after=${first.next}&wait=30`))
    assert.deepEqual(
      rest.items.map(({ sequenceNumber }) => sequenceNumber),
      [events[2]?.sequenceNumber],
    )
  })

  it('waits for an event of its category, and goes past the others (PROTOCOL §13)', async () => {
    const head = await headNow()
    const { answer, isAnswered } = await begin(`after=${head}&wait=30&apiEventType=lettingsproperty`)
    await publish(service(), { payload: property() })
    await delay(50)
    assert.equal(isAnswered(), false)
    const both = [{ payload: property(), category: 'lettings' as const }, { payload: property() }]
    const { events } = await publish(service(), both)
    const { items, next } = runOf(await answer)
    assert.deepEqual([items[0]?.sequenceNumber, items.length], [events[0]?.sequenceNumber, 1])
    assert.equal(next, events[1]?.sequenceNumber, 'also past what came together with it')
  })

  it('answers without events when its time is over, and gives its token back (PROTOCOL §13, D10)', async () => {
    const head = await headNow()
    const left = async () => {
      const { headers } = await call(service(), '/v1/heads', { key: service().tenant.readKey })
      return Number(/r=(\d+)/.exec(String(headers['ratelimit']))?.[1])
    }
    const before = await left()
    const answer = await wait(`after=${head}&wait=1`)
    assert.equal(answer.status, 200)
    const { items, next } = runOf(answer)
    assert.deepEqual([items, next], [[], head])
    // The second look takes one itself, and a second has given some back.
    assert.ok((await left()) >= before - 1)
  })

  it('is refused for an invalid wait, for a number beyond the head and for another epoch (D19, PROTOCOL §11)', async () => {
    for (const text of ['0', '31', '-1', '1.5', 'x', '']) {
      const answer = await wait(`after=0&wait=${text}`)
      assert.equal(answer.status, 400, text)
      assert.equal(problemOf(answer).errors?.[0]?.parameter, 'wait')
    }
    assert.equal(problemOf(await wait('after=900000000&wait=5')).code, 'cursor_beyond_head')
    assert.equal(problemOf(await wait('after=0&wait=5&epoch=other')).code, 'epoch_changed')
  })

  it('of one key are limited in number; another key waits beside them (L3, PROTOCOL §13)', async () => {
    const head = await headNow()
    const three: Awaited<ReturnType<typeof begin>>[] = []
    while (three.length < 3) three.push(await begin(`after=${head}&wait=30`))
    const refused = await wait(`after=${head}&wait=1`)
    assert.equal(refused.status, 429)
    assert.equal(problemOf(refused).code, 'too_many_waiting')
    assert.ok(Number(refused.headers['retry-after']) > 0)
    assert.equal((await wait('after=0&wait=1', service().otherTenant.readKey)).status, 200)
    await publish(service(), { payload: property() })
    for (const { answer } of three) assert.equal(runOf(await answer).items.length, 1)
    assert.equal((await wait(`after=${head}&wait=1`)).status, 200)
  })

  it('of a client that has gone frees its place (L3)', async () => {
    const head = await headNow()
    for (let round = 0; round < 6; round += 1) {
      const gone = new AbortController()
      await askAndWait(service(), 'long_poll', () =>
        call(service(), `${path}?after=${head}&wait=30`, {
          key: service().tenant.readKey,
          signal: gone.signal,
        }),
      )
      gone.abort()
      await until(async () => (await waitingRequests(service(), 'long_poll')) === 0, { what: 'a free place' })
    }
    assert.equal((await wait(`after=${head}&wait=1`)).status, 200)
  })

  it('ends when its epoch does (D13, PROTOCOL §13)', async () => {
    const { epoch, head } = runOf(await wait('after=0&limit=1'))
    const { answer } = await begin(`after=${head}&wait=30&epoch=${epoch}`)
    await service().storage.startEpoch(0, 'cli:test', [key()])
    assert.equal(problemOf(await answer).code, 'epoch_changed')
  })
})
