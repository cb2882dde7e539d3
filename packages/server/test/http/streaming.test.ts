/** A stream of events as they are published, read with a foreign parser (PROTOCOL §13). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openStream } from '../support/event-stream.ts'
import type { StreamReader } from '../support/event-stream.ts'
import { call, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { postErasure } from '../support/canary.ts'
import { contact, property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const path = '/v1/property-events'
const stream = `${path}/stream`

interface Run {
  readonly items: readonly { readonly sequenceNumber: number }[]
  readonly head: number
  readonly epoch: string
}

onEngines('a stream', { byNode: true, limits: { waitingPerKey: 3, markEveryMs: 200 } }, (service) => {
  const open = (query: string, headers: Readonly<Record<string, string>> = {}) =>
    openStream(service(), `${stream}?${query}`, { key: service().tenant.readKey, headers })
  const run = async (query: string): Promise<Run> =>
    JSON.parse((await call(service(), `${path}?${query}`, { key: service().tenant.readKey })).text)
  const numbersAfter = async (after: number, more = '') =>
    (await run(`after=${after}${more}`)).items.map(({ sequenceNumber }) => sequenceNumber)
  const some = (count: number) => Array.from({ length: count }, () => ({ payload: property() }))

  it('begins with its place, then sends each event of the feed in order, byte by byte (PROTOCOL §13, P1)', async () => {
    await publish(service(), some(5))
    const reader = await open('after=0')
    assert.equal(reader.status, 200)
    assert.equal(reader.headers['content-type'], 'text/event-stream')
    assert.equal(reader.headers['cache-control'], 'no-store, no-transform')
    assert.equal(reader.headers['x-accel-buffering'], 'no')
    const { items, epoch, head } = await run('after=0')
    await reader.until(({ numbers }) => numbers().length === items.length, 'all events')
    assert.equal(reader.retryMs, 2_000)
    const [mark, ...events] = reader.messages.filter(({ event }, index) => event !== 'mark' || index === 0)
    assert.equal(mark?.id, `${epoch}.0`)
    assert.deepEqual(JSON.parse(mark?.data ?? ''), { next: 0, head, revision: 0 })
    assert.deepEqual(
      events.map(({ data }): unknown => JSON.parse(data)),
      items,
    )
    assert.deepEqual(
      events.map(({ id }) => id),
      items.map(({ sequenceNumber }) => `${epoch}.${sequenceNumber}`),
    )
    reader.close()
  })

  it('sends what is published while it is read, and continues after the last id that a reader has (L1, L2)', async () => {
    const reader = await open('after=head')
    const { head } = await run('after=0&limit=1')
    assert.deepEqual(reader.numbers(), [])
    await publish(service(), some(3))
    await reader.until(({ numbers }) => numbers().length === 3, 'three events')
    reader.close()
    await publish(service(), some(2))
    // Its own address, as a browser asks again: the header wins.
    const again = await open('after=head', { 'last-event-id': reader.lastId ?? '' })
    await again.until(({ numbers }) => numbers().length === 2, 'two more')
    assert.deepEqual([...reader.numbers(), ...again.numbers()], await numbersAfter(head))
    again.close()
  })

  it('of a category sends that category, and its marks move past the others (PROTOCOL §13)', async () => {
    const reader = await open('after=head&apiEventType=lettingsproperty')
    const { head } = await run('after=0&limit=1')
    await publish(service(), some(2))
    const past = `${head + 2}`
    await reader.until(
      ({ lastId }) => lastId?.endsWith(`.${past}`) === true,
      'a mark after what it leaves out',
    )
    await publish(service(), { payload: property(), category: 'lettings' })
    await reader.until(({ numbers }) => numbers().length === 1, 'a letting')
    assert.deepEqual(reader.numbers(), await numbersAfter(head, '&apiEventType=lettingsproperty'))
    reader.close()
  })

  it('is refused without a place to begin at, and with an invalid one (D19, PROTOCOL §13)', async () => {
    const refused = async (query: string, headers: Readonly<Record<string, string>> = {}) =>
      problemOf(await call(service(), `${stream}?${query}`, { key: service().tenant.readKey, headers }))
    assert.equal((await refused('')).errors?.[0]?.parameter, 'after')
    for (const query of [
      'after=-1',
      'after=Head',
      'after=head&after=head',
      'after=head&after=3',
      'limit=3&after=0',
    ]) {
      assert.equal((await refused(query)).code, 'invalid_parameter', query)
    }
    for (const id of ['7', 'x.y', `${'e'.repeat(65)}.1`, 'e.01', 'e.9999999999999999']) {
      const { errors } = await refused('after=0', { 'last-event-id': id })
      assert.equal(errors?.[0]?.parameter, 'Last-Event-ID', id)
    }
    assert.equal((await refused('after=900000000')).code, 'cursor_beyond_head')
    assert.equal((await refused('after=0&epoch=other')).code, 'epoch_changed')
    assert.equal((await refused('after=0', { 'last-event-id': 'other.1' })).code, 'epoch_changed')
  })

  it('answers HEAD with its headers alone, and holds no place for it (PROTOCOL §13)', async () => {
    for (let round = 0; round < 5; round += 1) {
      const answer = await call(service(), `${stream}?after=0`, {
        key: service().tenant.readKey,
        method: 'HEAD',
      })
      assert.equal(answer.status, 200)
      assert.equal(answer.text, '')
    }
  })

  it('of one key are limited in number, and a reader that has gone frees its place (L3)', async () => {
    const readers = await Promise.all([1, 2, 3].map(() => open('after=head')))
    const refused = await call(service(), `${stream}?after=head`, { key: service().tenant.readKey })
    assert.equal(problemOf(refused).code, 'too_many_waiting')
    for (const reader of readers) reader.close()
    await until(
      async () => {
        const reader = await open('after=head')
        reader.close()
        return reader.status === 200
      },
      { what: 'a free place' },
    )
  })

  it('that takes nothing delays no other, and gets everything when it continues (L3, L1)', async () => {
    const [slow, quick] = [await open('after=head'), await open('after=head')]
    const { head } = await run('after=0&limit=1')
    const goOn = slow.rest()
    const long = { details: { summary: 'S', description: 'x'.repeat(60_000) } }
    for (let round = 0; round < 20; round += 1) {
      await publish(
        service(),
        Array.from({ length: 10 }, () => ({ payload: property(long) })),
      )
    }
    const all = await run(`after=${head}&limit=1000`)
    await quick.until(({ numbers }) => numbers().length >= all.items.length, 'everything')
    goOn()
    await slow.until(({ numbers }) => numbers().length === quick.numbers().length, 'everything, later')
    assert.deepEqual(slow.numbers(), quick.numbers())
    assert.equal(quick.numbers().length, 200)
    for (const reader of [slow, quick]) reader.close()
  })

  it('sends nothing of what was erased, although it has sent it before and keeps new events (D17)', async () => {
    const words = 'Moonlight Serenade Lane'
    const contactStream = '/v1/contact-events/stream'
    const { readKey } = service().tenant
    const first = await openStream(service(), `${contactStream}?after=head`, { key: readKey })
    const person = contact({ surname: words })
    await publish(service(), { payload: person }, { feed: 'contact' })
    await first.until(({ messages }) => messages.some(({ data }) => data.includes(words)), 'the contact')
    const { text } = await postErasure(service(), {
      feed: 'contact',
      subjectId: person['contact_ref'],
      reason: 'objection',
    })
    const { id }: { id: string } = JSON.parse(text)
    await until(
      async () => {
        const answer = await call(service(), `/v1/erasures/${id}`, { key: service().tenant.eraseKey })
        return /"unreachable"/.test(answer.text)
      },
      { what: 'unreachable' },
    )
    const second = await openStream(service(), `${contactStream}?after=0`, { key: readKey })
    await second.until(({ numbers }) => numbers().length === 2, 'the erased event and what closed it')
    assert.ok(second.messages.every(({ data }) => !data.includes(words)))
    for (const reader of [first, second]) reader.close()
  })

  it('ends with its key, within two seconds (D11)', async () => {
    const grants = [{ tenantId: service().tenant.tenantId, scopes: ['property:read' as const] }]
    const { keyId, text } = await service().issue({ grants })
    const reader = await openStream(service(), `${stream}?after=head`, { key: text })
    assert.equal(reader.status, 200)
    await service().storage.keys.revokeKey(keyId, Date.now(), 'cli:test')
    const startedMs = performance.now()
    await reader.until(({ hasEnded }) => hasEnded, 'the end')
    assert.ok(performance.now() - startedMs < 10_000)
  })

  it('ends with reset when numbers mean something else, and its last id is refused then (D13, L1)', async () => {
    const reader = await open('after=head')
    const { tenantId } = service().tenant
    await service().storage.startEpoch(0, 'cli:test', [{ tenantId, feed: 'property' }])
    await reader.until(({ hasEnded }) => hasEnded, 'the end')
    const { epoch } = await run('after=0&limit=1')
    const last = reader.messages.at(-1)
    assert.equal(last?.event, 'reset')
    assert.deepEqual(JSON.parse(last?.data ?? ''), { epoch })
    const lastMark = reader.messages.findLast(({ event }) => event !== 'reset')?.id ?? ''
    const again = await call(service(), `${stream}?after=0`, {
      key: service().tenant.readKey,
      headers: { 'last-event-id': lastMark },
    })
    assert.equal(problemOf(again).code, 'epoch_changed')
  })
})

// What is sent, and to whom, is the same on every engine.
describe('a reader that takes nothing', () => {
  /** Resolves with a reader to whom more is sent than the kernel takes for it: the next piece waits for that to drain. */
  async function stopped(service: TestService): Promise<StreamReader> {
    const reader = await openStream(service, `${stream}?after=head`, { key: service.tenant.readKey })
    reader.rest()
    const long = { details: { summary: 'S', description: 'x'.repeat(60_000) } }
    for (let round = 0; round < 20; round += 1) {
      await publish(
        service,
        Array.from({ length: 10 }, () => ({ payload: property(long) })),
      )
    }
    return reader
  }
  const isFree = (service: TestService) => async () => {
    const another = await openStream(service, `${stream}?after=head`, { key: service.tenant.readKey })
    another.close()
    return another.status === 200
  }

  it('and is cut gives its place back, whatever waits to be sent to it (L3)', async () => {
    const service = await startTestService({ limits: { waitingPerKey: 1 } })
    try {
      const reader = await stopped(service)
      assert.equal(await isFree(service)(), false)
      reader.close()
      await until(isFree(service), { what: 'a free place', everyMs: 100 })
    } finally {
      await service.stop()
    }
  })

  it('is closed after a while, and its place is free (L3, PROTOCOL §13)', async () => {
    const service = await startTestService({ limits: { waitingPerKey: 1, idleSocketTimeoutMs: 1_000 } })
    try {
      const reader = await stopped(service)
      await until(isFree(service), { what: 'the place of a reader that takes nothing', everyMs: 100 })
      reader.close()
    } finally {
      await service.stop()
    }
  })
})
