/** What receivers of webhooks get, and when (PROTOCOL §16.2). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import type { Webhook as Endpoint } from '@property-events/protocol/wire'
import type { StorageEngine } from '../../src/index.ts'
import { publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { until } from '../support/until.ts'
import { ask, makeWebhook, startReceiver, toThisMachine, webhookKey } from '../support/webhooks.ts'

interface Posted {
  readonly type: string
  readonly data: {
    readonly epoch: string
    readonly event: { readonly sequenceNumber: number; readonly payload: string }
  }
}

function posted(body: string): Posted {
  const message: Posted = JSON.parse(body)
  return message
}

function refOf(body: string): string {
  const payload: { readonly agent_ref: string } = JSON.parse(posted(body).data.event.payload)
  return payload.agent_ref
}

const ok = { status: 204, text: '' }
const broken = { status: 500, text: 'Mae’r gronfa ddata i lawr – £ 🏡' }

onEngines('a webhook', toThisMachine, (service) => {
  const endpoint = async (id: string, key: string): Promise<Endpoint> =>
    JSON.parse((await ask(service(), key, 'GET', `/${id}`)).text)

  it('tells how long an event waited for its first post, and counts no further try (aim of 0.5 s)', async () => {
    const waited = async (le: string): Promise<number> => {
      const text = await (await fetch(service().service.metricsUrl ?? '')).text()
      const name = `property_events_webhook_first_try_seconds_bucket{le="${le}"}`
      const line = text.split('\n').find((one) => one.startsWith(name))
      return Number(line?.split(' ')[1] ?? assert.fail(`no ${name}`))
    }
    let isBroken = true
    await using receiver = await startReceiver(() => (isBroken ? broken : ok))
    const key = await webhookKey(service())
    const { id } = await makeWebhook(service(), key, { url: receiver.url })
    assert.equal(await waited('+Inf'), 0)
    await publish(service(), { payload: property() })
    await until(() => receiver.received.length === 1)
    isBroken = false
    await until(() => receiver.received.length === 2, { what: 'the second try' })
    await until(async () => (await endpoint(id, key)).waiting === 0, { what: 'its end' })
    assert.equal(await waited('+Inf'), 1)
    assert.ok((await waited('0.5')) <= 1)
    await ask(service(), key, 'DELETE', `/${id}`)
  })

  it('is posted within half a second, signed, byte for byte as the feed has it (W1, PROTOCOL §16.2)', async () => {
    await using receiver = await startReceiver(() => ok)
    const key = await webhookKey(service())
    const { secret, id } = await makeWebhook(service(), key, { url: receiver.url })
    // Its sender is there with the first event.
    await publish(service(), { payload: property({ details: { summary: 'Tŷ ar lan y môr – £ 🏡' } }) })
    await until(() => receiver.received.length === 1)
    const startedMs = performance.now()
    const { events } = await publish(service(), { payload: property() })
    await until(() => receiver.received.length === 2, { everyMs: 2 })
    const tookMs = performance.now() - startedMs
    assert.ok(tookMs < 500, `${tookMs} ms`)
    for (const { headers, body } of receiver.received) {
      const signed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
      new Webhook(secret).verify(body, signed)
    }
    const last = receiver.received[1]?.body ?? ''
    assert.equal(posted(last).data.event.sequenceNumber, events[0]?.sequenceNumber)
    assert.equal(
      receiver.received[1]?.headers['webhook-id'],
      `msg_${posted(last).data.epoch}_${events[0]?.sequenceNumber}`,
    )
    await until(async () => (await endpoint(id, key)).cursor.settled === events[0]?.sequenceNumber)
  })

  it('waits with its property when it is refused, while others go on, and comes first when it is tried again (W2)', async () => {
    const [slow, other] = [randomUUID(), randomUUID()]
    let isBroken = true
    await using receiver = await startReceiver(() => ok)
    await using refusing = await startReceiver(() =>
      isBroken && refOf(refusing.received.at(-1)?.body ?? '') === slow ? broken : ok,
    )
    const key = await webhookKey(service())
    const { id } = await makeWebhook(service(), key, { url: refusing.url })
    await makeWebhook(service(), key, { url: receiver.url })
    for (const agent_ref of [slow, other, slow, slow, other])
      await publish(service(), { payload: property({ agent_ref, details: { summary: randomUUID() } }) })
    await until(async () => (await endpoint(id, key)).waiting === 1)
    await until(() => refusing.received.filter(({ body }) => refOf(body) === other).length === 2)
    assert.equal(refusing.received.filter(({ body }) => refOf(body) === slow).length, 1)
    isBroken = false
    await until(async () => (await endpoint(id, key)).waiting === 0, { timeoutMs: 20_000 })
    const numbers = refusing.received
      .filter(({ body }) => refOf(body) === slow)
      .map(({ body }) => posted(body).data.event.sequenceNumber)
    assert.equal(numbers.length, 4)
    assert.deepEqual(
      [...numbers].sort((a, b) => a - b),
      numbers,
    )
    assert.equal(new Set(numbers).size, 3)
    await until(() => receiver.received.length === 5)
  })

  it('is no more posted once its key is revoked, and says so (PROTOCOL §16.1)', async () => {
    await using receiver = await startReceiver(() => ok)
    const { tenantId } = service().tenant
    const issued = await service().issue({
      grants: [{ tenantId, scopes: ['property:read', 'property:webhooks'] }],
    })
    const { id } = await makeWebhook(service(), issued.text, { url: receiver.url })
    await publish(service(), { payload: property() })
    await until(() => receiver.received.length === 1)
    await service().storage.keys.revokeKey(issued.keyId, Date.now(), 'service')
    const other = await webhookKey(service())
    await until(async () => (await endpoint(id, other)).state === 'disabled', { timeoutMs: 4_000 })
    assert.equal((await endpoint(id, other)).reason, 'key_revoked')
    await publish(service(), { payload: property() })
    await using last = await startReceiver(() => ok)
    await makeWebhook(service(), other, { url: last.url, after: 0 })
    await until(() => last.received.length > 2)
    assert.equal(receiver.received.length, 1)
  })

  it('stops while it is paused and goes on where it stood (W1)', async () => {
    await using receiver = await startReceiver(() => ok)
    const key = await webhookKey(service())
    const { id } = await makeWebhook(service(), key, { url: receiver.url })
    await publish(service(), { payload: property() })
    await until(() => receiver.received.length === 1)
    await ask(service(), key, 'PATCH', `/${id}`, { state: 'paused' })
    const { events } = await publish(service(), { payload: property() })
    assert.equal((await endpoint(id, key)).state, 'paused')
    await ask(service(), key, 'PATCH', `/${id}`, { state: 'enabled' })
    await until(async () => (await endpoint(id, key)).cursor.settled === events[0]?.sequenceNumber)
    const numbers = receiver.received.map(({ body }) => posted(body).data.event.sequenceNumber)
    assert.equal(numbers.at(-1), events[0]?.sequenceNumber)
  })
})

/** The first write of progress is accepted and lost, as by a database that crashes. */
let isLost = false
const losingTheFirst = (storage: StorageEngine): StorageEngine => {
  isLost = false
  const save: StorageEngine['webhooks']['save'] = async (progress) => {
    if (isLost) return storage.webhooks.save(progress)
    isLost = true
    return []
  }
  return { ...storage, webhooks: { ...storage.webhooks, save } }
}

onEngines('a webhook whose progress was lost', { ...toThisMachine, wrap: losingTheFirst }, (service) => {
  it('begins anew with what is stored, and passes nothing (W1, W5)', async () => {
    const answers = [broken]
    await using receiver = await startReceiver(() => answers.pop() ?? ok)
    const key = await webhookKey(service())
    const { id } = await makeWebhook(service(), key, { url: receiver.url })
    const [refused, taken] = [property(), property()]
    await publish(service(), { payload: refused })
    await until(() => isLost, { what: 'the write that is lost' })
    await publish(service(), { payload: taken })
    const timesOf = (ref: unknown) => receiver.received.filter(({ body }) => refOf(body) === ref).length
    await until(() => timesOf(taken['agent_ref']) === 2, { what: 'what was acknowledged and is not stored' })
    await until(async () => {
      const now: Endpoint = JSON.parse((await ask(service(), key, 'GET', `/${id}`)).text)
      return now.waiting === 0 && now.cursor.settled === 2
    })
    assert.equal(timesOf(refused['agent_ref']), 2)
  })
})
