/** A receipt names who had been sent what was erased, and who has been told (D17, D28). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { StorageEngine } from '../../src/index.ts'
import { eraseAll, postErasure, receiptOf } from '../support/canary.ts'
import type { ReceiptBody } from '../support/canary.ts'
import { call, contactGetPath, contactListPath as list, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

interface RecipientBody {
  readonly keyId: string
  readonly [member: string]: unknown
}

async function readerOf(service: TestService): Promise<{ text: string; keyId: string }> {
  const { tenantId } = service.tenant
  return service.issue({ grants: [{ tenantId, scopes: ['contact:read', 'property:read'] }] })
}

async function publishVersions(service: TestService, count: number) {
  const subjectId = crypto.randomUUID()
  const ids: string[] = []
  for (let version = 0; version < count; version += 1) {
    const payload = contact({ contact_ref: subjectId, note: `${version}` })
    const { events } = await publish(service, [{ payload }], { feed: 'contact' })
    ids.push(...events.map(({ id }) => id))
  }
  return { subjectId, ids }
}

async function recipientsOf(service: TestService, id: string): Promise<readonly RecipientBody[]> {
  return (await receiptOf(service, id))['recipients'] as readonly RecipientBody[]
}

/** Reads until the node that was asked has added what it sent. */
async function untilTold(service: TestService, id: string, keyId: string): Promise<void> {
  const isTold = async () =>
    (await recipientsOf(service, id)).some((one) => one.keyId === keyId && one['toldBy'] !== null)
  await until(isTold, { what: 'the ledger to be written', timeoutMs: 90_000, everyMs: 200 })
}

onEngines('a receipt', {}, (service) => {
  it('lists the keys that were sent the events, by whatever read, ended ones too, and no others (D17)', async () => {
    const { tenant, storage } = service()
    const { subjectId, ids } = await publishVersions(service(), 3)
    const [all, one, ended, tagged, later] = await Promise.all(
      Array.from({ length: 5 }, () => readerOf(service())),
    )
    assert.ok(all && one && ended && tagged && later)
    const read = (path: string, key: string, headers = {}) => call(service(), path, { key, headers })
    await read(`${list}?pageSize=1000`, all.text, { 'accept-encoding': 'gzip' })
    await read(`${contactGetPath}/${ids[1]}`, one.text)
    await read(`/v1/contacts/${subjectId}/history?limit=2`, ended.text)
    await storage.keys.revokeKey(ended.keyId, Date.now(), 'cli:test')
    // Is sent nothing: it has the page, and the head of another answer.
    const page = await read(`${list}?pageSize=1000`, all.text)
    await read(`${list}?pageSize=1000`, tagged.text, { 'if-none-match': page.headers.etag ?? '' })
    await call(service(), `/v1/contacts/${subjectId}`, { key: tagged.text, method: 'HEAD' })

    const [receipt] = await eraseAll(service(), [{ feed: 'contact', subjectId }])
    const { id = '' } = receipt ?? {}
    await read(`${list}?pageSize=1000`, later.text)
    const found = await recipientsOf(service(), id)
    const shown = new Map(
      found.map(({ keyId, label, certainty, events, toldBy, acknowledgedAt }) => [
        keyId,
        { label, certainty, events, toldBy, acknowledgedAt },
      ]),
    )
    const sent = { label: 'test', certainty: 'sent', toldBy: null, acknowledgedAt: null }
    assert.deepEqual(
      shown,
      new Map([
        [all.keyId, { ...sent, events: 3 }],
        [one.keyId, { ...sent, events: 1 }],
        [ended.keyId, { ...sent, events: 2 }],
      ]),
    )
    for (const { firstSentAt, lastSentAt } of found) {
      const hourMs = Date.parse(String(lastSentAt)) - Date.parse(String(firstSentAt))
      assert.ok(hourMs === 3_600_000 || hourMs === 7_200_000)
    }
    assert.deepEqual((await receiptOf(service(), id))['unknownTimes'], [])
    // A list of receipts is without them.
    const listed = await call(service(), '/v1/erasures', { key: tenant.eraseKey })
    const { erasures } = JSON.parse(listed.text) as { erasures: readonly ReceiptBody[] }
    assert.ok(erasures.every((erasure) => !('recipients' in erasure)))

    // One consumer reads on, and is told. It takes a while until the ledger says so; another erasure makes every node write.
    await read('/v1/contact-events?after=0', all.text)
    const other = await publishVersions(service(), 1)
    await eraseAll(service(), [{ feed: 'contact', subjectId: other.subjectId }])
    await untilTold(service(), id, all.keyId)
    assert.deepEqual(
      (await recipientsOf(service(), id)).filter(({ toldBy }) => toldBy !== null).map(({ keyId }) => keyId),
      [all.keyId],
    )

    // It says that it has done so; what it has said before counts as little as what another says.
    const { sequenceNumber } =
      JSON.parse((await read('/v1/contact-events?limit=1', all.text)).text).items[0] ?? {}
    const epoch = (await read(`${list}?pageSize=1`, all.text)).headers['x-feed-epoch']
    const closed = (await receiptOf(service(), id))['closing'] as { readonly sequenceNumber: number }
    assert.ok(sequenceNumber < closed.sequenceNumber)
    const acknowledge = (key: string, name: string, number: number) =>
      call(service(), `/v1/contact-consumers/${name}/acknowledged`, {
        method: 'PUT',
        key,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ sequenceNumber: number, epoch }),
      })
    assert.equal((await acknowledge(one.text, 'default', sequenceNumber)).status, 204)
    assert.equal((await acknowledge(all.text, 'default', closed.sequenceNumber)).status, 204)
    const acknowledged = async () => {
      // A question about who has seen something has the node add what it has noted.
      await call(service(), `/v1/properties/${crypto.randomUUID()}/consumers`, { key: tenant.publishKey })
      const recipients = await recipientsOf(service(), id)
      return recipients.flatMap((shown) => (shown['acknowledgedAt'] === null ? [] : [shown]))
    }
    await until(async () => (await acknowledged()).length > 0, {
      what: 'the acknowledgement',
      timeoutMs: 90_000,
      everyMs: 200,
    })
    const [said, ...rest] = await acknowledged()
    assert.deepEqual([said?.keyId, rest], [all.keyId, []])
    assert.deepEqual(said?.['consumers'], [{ name: 'default', acknowledgedAt: said?.['acknowledgedAt'] }])
  })

  it('names for one event who was sent that one, and says for a property that its reads are not noted (D17)', async () => {
    const { ids } = await publishVersions(service(), 3)
    const [first, second] = [await readerOf(service()), await readerOf(service())]
    await call(service(), `${contactGetPath}/${ids[0]}`, { key: first.text })
    await call(service(), `${contactGetPath}/${ids[1]}`, { key: second.text })
    const begun = await postErasure(service(), { feed: 'contact', eventId: ids[1], reason: 'unlawful' })
    assert.equal(begun.status, 202, begun.text)
    const { id } = JSON.parse(begun.text) as ReceiptBody
    await until(async () => (await receiptOf(service(), id)).state === 'unreachable')
    assert.deepEqual(
      (await recipientsOf(service(), id)).map(({ keyId, events }) => [keyId, events]),
      [[second.keyId, 1]],
    )
    const agentRef = crypto.randomUUID()
    await publish(service(), [{ payload: property({ agent_ref: agentRef }) }])
    await call(service(), `/v1/properties/${agentRef}`, { key: first.text })
    const [receipt] = await eraseAll(service(), [{ feed: 'property', subjectId: agentRef }])
    assert.deepEqual([receipt?.['recipients'], receipt?.['unknownTimes']], [null, null])
  })
})

describe('a receipt for events that were being read while they were erased', () => {
  it('names the key that was sent it after the last step (D17)', async () => {
    let isReached = false
    const [isHeld, gate] = [{ value: false }, Promise.withResolvers<void>()]
    const wrap = (storage: StorageEngine): StorageEngine => ({
      ...storage,
      events: {
        ...storage.events,
        readEvent: async (key, eventId) => {
          const event = await storage.events.readEvent(key, eventId)
          isReached ||= isHeld.value
          if (isHeld.value) await gate.promise
          return event
        },
      },
    })
    const service = await startTestService({ wrap })
    try {
      const { subjectId, ids } = await publishVersions(service, 2)
      const { text, keyId } = await readerOf(service)
      isHeld.value = true
      const reading = call(service, `${contactGetPath}/${ids[0]}`, { key: text })
      await until(() => isReached)
      const begun = await postErasure(service, { feed: 'contact', subjectId, reason: 'objection' })
      const { id } = JSON.parse(begun.text) as ReceiptBody
      const isState = async (state: string) => (await receiptOf(service, id)).state === state
      await until(() => isState('reduced'))
      // As long as it would take if nothing waited for the read.
      const isEarly = until(() => isState('unreachable')).then(() => true)
      assert.equal(await Promise.race([isEarly, delay(1_500, false)]), false, 'the read is under way')
      isHeld.value = false
      gate.resolve()
      assert.equal((await reading).status, 200)
      await isEarly
      const found = await recipientsOf(service, id)
      assert.deepEqual(
        found.map((one) => [one.keyId, one['certainty']]),
        [[keyId, 'sent']],
      )
    } finally {
      gate.resolve()
      await service.stop()
    }
  })
})
