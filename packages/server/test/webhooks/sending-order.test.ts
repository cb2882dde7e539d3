/** The order and the whole of what receivers get (W1 to W5): epochs, categories, long histories, other nodes, notices. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import type { Webhook as Endpoint } from '@property-events/protocol/wire'
import { publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import { until } from '../support/until.ts'
import { ask, makeWebhook, startReceiver, toThisMachine, webhookKey } from '../support/webhooks.ts'

interface Posted {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>> & {
    readonly epoch: string
    readonly event: { readonly sequenceNumber: number; readonly payload: string }
  }
}

function posted({ body }: { readonly body: string }): Posted {
  const message: Posted = JSON.parse(body)
  return message
}

const ok = { status: 204, text: '' }
function lettingOf(agent_ref: string) {
  return property({ agent_ref, price_information: { price: 950, price_pcm: 950 } })
}

onEngines('webhooks', toThisMachine, (service) => {
  const endpoint = async (id: string, key: string): Promise<Endpoint> =>
    JSON.parse((await ask(service(), key, 'GET', `/${id}`)).text)

  it('bring a long history whole, each property in its order (W1, W2)', async () => {
    const refs = Array.from({ length: 20 }, () => randomUUID())
    const events = Array.from({ length: 300 }, (_, n) => ({
      payload: property({ agent_ref: refs[n % 20], details: { summary: `Tŷ rhif ${n} – £ 🏡` } }),
    }))
    await publish(service(), events.slice(0, 100))
    await publish(service(), events.slice(100, 200))
    await publish(service(), events.slice(200))
    await using receiver = await startReceiver(() => ok)
    const key = await webhookKey(service())
    const { id } = await makeWebhook(service(), key, { url: receiver.url, after: 0 })
    await until(() => receiver.received.length >= 300)
    await until(async () => (await endpoint(id, key)).cursor.settled >= 300)
    const numbers = receiver.received.map((one) => posted(one).data.event.sequenceNumber)
    assert.equal(new Set(numbers).size, numbers.length)
    const last = new Map<string, number>()
    for (const { data } of receiver.received.map(posted)) {
      const { agent_ref: ref }: { readonly agent_ref: string } = JSON.parse(data.event.payload)
      assert.ok((last.get(ref) ?? 0) < data.event.sequenceNumber)
      last.set(ref, data.event.sequenceNumber)
    }
  })

  it('say that an epoch has begun before its first event (D13, PROTOCOL §16.2)', async () => {
    await using receiver = await startReceiver(() => ok)
    const key = await webhookKey(service())
    const { id } = await makeWebhook(service(), key, { url: receiver.url })
    await publish(service(), { payload: property() })
    await until(() => receiver.received.length === 1)
    await service().storage.startEpoch(0, 'service')
    const { events } = await publish(service(), { payload: property() })
    await until(() => receiver.received.length === 3)
    const [before, epoch, after] = receiver.received.map(posted)
    assert.equal(epoch?.type, 'feed.epochChanged')
    assert.equal(epoch.data['previousEpoch'], before?.data.epoch)
    assert.equal(after?.data.epoch, epoch.data.epoch)
    assert.notEqual(after.data.epoch, before?.data.epoch)
    await until(async () => (await endpoint(id, key)).cursor.settled === events[0]?.sequenceNumber)
    assert.equal((await endpoint(id, key)).cursor.epoch, after.data.epoch)
  })

  it('are disabled by a 410, which an endpoint for operations is told (PROTOCOL §16.2)', async () => {
    await using operations = await startReceiver(() => ok)
    await using gone = await startReceiver(() => ({ status: 410, text: 'Wedi mynd – £ 🏡' }))
    const key = await webhookKey(service())
    await makeWebhook(service(), key, { url: operations.url, events: 'operations' })
    const { id } = await makeWebhook(service(), key, { url: gone.url })
    await publish(service(), { payload: property() })
    await until(async () => (await endpoint(id, key)).state === 'disabled')
    assert.equal((await endpoint(id, key)).reason, 'gone')
    await until(() => operations.received.length === 1, { timeoutMs: 10_000 })
    const [told] = operations.received.map(posted)
    assert.equal(told?.type, 'webhook.disabled')
    assert.equal(told.data['endpointId'], id)
  })

  it('bring contacts without their payload (D11, PROTOCOL §16.2)', async () => {
    await using receiver = await startReceiver(() => ok)
    const key = await webhookKey(service())
    await makeWebhook(service(), key, { url: receiver.url, feed: 'contact', payload: 'thin' })
    const sent = contact({ surname: 'Kowalczyk' })
    await publish(service(), { payload: sent }, { feed: 'contact' })
    await until(() => receiver.received.length === 1)
    const body = receiver.received[0]?.body ?? ''
    assert.doesNotMatch(body, /Kowalczyk/)
    assert.match(body, new RegExp(String(sent['contact_ref'])))
  })

  it('leave out of “latest” only what a later event of the same category supersedes (W1)', async () => {
    let isOpen = false
    await using receiver = await startReceiver(() => (isOpen ? ok : { status: 503, text: '' }))
    const key = await webhookKey(service())
    const { id } = await makeWebhook(service(), key, {
      url: receiver.url,
      mode: 'latest',
      apiEventType: 'salesproperty',
    })
    const agent_ref = randomUUID()
    const sold = await publish(service(), { category: 'sales', payload: property({ agent_ref }) })
    await publish(service(), { category: 'lettings', payload: lettingOf(agent_ref) })
    isOpen = true
    // It leaves its category with an event of this one, which the later one of the other does not supersede.
    const left = (sold.events[0]?.sequenceNumber ?? 0) + 1
    await until(() => receiver.received.some((one) => posted(one).data.event.sequenceNumber === left))
    await until(async () => (await endpoint(id, key)).waiting === 0, { timeoutMs: 20_000 })
    assert.ok(receiver.received.every((one) => posted(one).data.event.sequenceNumber <= left))
  })

  it('are not delayed by a receiver that never answers, and follow no redirect (W4, PROTOCOL §16.1)', async () => {
    let to = ''
    await using hanging = await startReceiver(() => new Promise(() => undefined))
    await using quick = await startReceiver(() => ok)
    await using elsewhere = await startReceiver(() => ok)
    await using redirecting = await startReceiver(() => ({
      status: 307,
      text: '',
      headers: { location: to },
    }))
    to = elsewhere.url
    const key = await webhookKey(service())
    for (let n = 0; n < 4; n += 1) await makeWebhook(service(), key, { url: hanging.url, concurrency: 16 })
    const { id } = await makeWebhook(service(), key, { url: redirecting.url })
    await makeWebhook(service(), key, { url: quick.url })
    for (let n = 1; n <= 30; n += 1) {
      const startedMs = performance.now()
      await publish(service(), { payload: property() })
      await until(() => quick.received.length === n, { everyMs: 2 })
      // The first waits for the lease.
      if (n > 1) assert.ok(performance.now() - startedMs < 1_000, `event ${n}`)
    }
    assert.ok(hanging.received.length >= 16)
    await until(
      async () => (await endpoint(id, key)).waiting > 0 || (await endpoint(id, key)).failingSince !== null,
    )
    assert.equal(elsewhere.received.length, 0)
  })
})
