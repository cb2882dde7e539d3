/** The terms of a property on a day, through HTTP (PROTOCOL §14.8). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import type { PropertyTerms } from '@property-events/protocol/wire'
import { eraseAll } from '../support/canary.ts'
import { call, listPath as list, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'

async function termsOf(
  service: TestService,
  agentRef: string,
  query: string,
  key: string,
): Promise<PropertyTerms> {
  const answer = await call(service, `/v1/properties/${agentRef}/terms${query}`, { key })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers['cache-control'], 'no-store')
  return JSON.parse(answer.text)
}

function letting(agentRef: string, price: number | undefined, branch?: string) {
  const payload = property({
    agent_ref: agentRef,
    ...(branch === undefined ? {} : { branch_id: branch }),
    price_information: { price, rent_frequency: 12, deposit: 0, price_qualifier_string: '£ y mis – tŷ 🏡' },
  })
  return { payload, category: 'lettings' }
}

const json = { 'content-type': 'application/json' }

onEngines('terms of a property', {}, (service) => {
  it('are those of the event in force, with what each consumer was sent, applied and showed (PROTOCOL §14.8)', async () => {
    const { publishKey, readKey } = service().tenant
    const agentRef = randomUUID()
    const [first] = (await publish(service(), letting(agentRef, 1_250))).events
    const website = { key: readKey, headers: { 'x-feed-consumer': 'website' } }
    const page = await call(service(), `${list}?pageSize=1000`, website)
    await publish(service(), letting(agentRef, 1_300))
    const url = 'https://example.com/t%C5%B7'
    const said = [{ agentRef, sequenceNumber: first?.sequenceNumber, outcome: 'live', url }]
    const results = { method: 'POST', key: readKey, headers: json, body: JSON.stringify(said) }
    await call(service(), '/v1/property-consumers/website/results', results)
    const epoch = String(page.headers['x-feed-epoch'])
    const applied = { sequenceNumber: first?.sequenceNumber, epoch }
    const saying = { method: 'PUT', key: readKey, headers: json, body: JSON.stringify(applied) }
    await call(service(), '/v1/property-consumers/website/acknowledged', saying)

    const now = await termsOf(service(), agentRef, '', publishKey)
    assert.equal(now.terms?.price, 1_300)
    assert.equal(now.supersededBy, null)
    const superseded = now.event?.createdDate ?? ''
    const then = await termsOf(service(), agentRef, `?at=${first?.createdDate}`, publishKey)
    assert.deepEqual(then.terms, {
      status: then.terms?.status ?? null,
      price: 1_250,
      priceQualifier: null,
      priceQualifierText: '£ y mis – tŷ 🏡',
      rentFrequency: 12,
      deposit: 0,
      contractMonths: null,
      minimumTerm: null,
    })
    assert.equal(then.supersededBy?.createdDate, superseded)
    assert.deepEqual(
      [then.event?.sequenceNumber, then.event?.category, then.record, then.published],
      [first?.sequenceNumber, 'lettings', 'kept', true],
    )
    const deposit = then.material?.find(({ name }) => name === 'deposit')
    assert.deepEqual(deposit?.values, [{ pointer: '/price_information/deposit', value: 0 }])
    assert.equal(deposit?.stated, true)
    assert.equal(then.material?.find(({ name }) => name === 'parking')?.stated, false)
    const shown = then.consumers.find(({ name }) => name === 'website')
    assert.equal(shown?.sent, 'first')
    assert.equal(shown.route, 'list')
    assert.equal(shown.applied?.sequenceNumber, first?.sequenceNumber)
    assert.deepEqual(
      shown.live.map(({ url: where, until, sequenceNumber }) => [where, until, sequenceNumber]),
      [[url, null, first?.sequenceNumber]],
    )
    assert.match(
      shown.sentence,
      /^First sent in the minute of \d{4}-\d\d-\d\d \d\d:\d\d UTC\. Applied by .* Live from .*, with no end reported, at https:/,
    )
    // A reader sees itself alone: the same.
    const own = await termsOf(service(), agentRef, '', readKey)
    assert.ok(own.consumers.every(({ keyId }) => keyId === shown.keyId))
  })

  it('are not recorded before the first event, and gone with an erasure, and both are said (PROTOCOL §14.8, D17)', async () => {
    const { publishKey } = service().tenant
    const agentRef = randomUUID()
    const [first] = (await publish(service(), letting(agentRef, 1_250))).events
    const none = await termsOf(service(), agentRef, '?at=2020-01-31', publishKey)
    assert.deepEqual([none.record, none.event, none.published, none.terms], ['none', null, null, null])
    assert.deepEqual(none.consumers, [])
    assert.equal(none.at, '2020-01-31T23:59:59.999Z')
    assert.match(none.sentence, /is not recorded\.$/)
    await eraseAll(service(), [{ feed: 'property', subjectId: agentRef }])
    const gone = await termsOf(service(), agentRef, `?at=${first?.createdDate}`, publishKey)
    assert.deepEqual([gone.record, gone.published, gone.terms, gone.material], ['erased', true, null, null])
    assert.match(gone.sentence, /was advertised: .* Its terms were erased\.$/)
    assert.match(gone.consumers[0]?.sentence ?? '', /What it reported of the property was erased\.$/)
  })

  it('take no property of another tenant or branch, no other parameter, and no time that is none (D8, D19)', async () => {
    const { tenantId, publishKey } = service().tenant
    const agentRef = randomUUID()
    await publish(service(), letting(agentRef, 900, 'Dale'))
    await publish(service(), letting(agentRef, 950, 'Fell'))
    const dale = await service().issue({
      grants: [{ tenantId, scopes: ['property:publish'], branches: ['Dale'] }],
    })
    // In its branch the property was withdrawn when it left.
    const left = await termsOf(service(), agentRef, '', dale.text)
    assert.deepEqual([left.published, left.terms?.price], [false, 900])
    const ely = await service().issue({
      grants: [{ tenantId, scopes: ['property:publish'], branches: ['Ely'] }],
    })
    for (const key of [ely.text, service().otherTenant.publishKey]) {
      const answer = await call(service(), `/v1/properties/${agentRef}/terms`, { key })
      assert.equal(problemOf(answer).code, 'subject_not_found')
    }
    const refused = [
      ['?at=2026-02-30', 'not_a_time'],
      ['?at=', 'not_a_time'],
      ['?At=2026-02-01', 'unknown_parameter'],
    ] as const
    for (const [query, code] of refused) {
      const answer = await call(service(), `/v1/properties/${agentRef}/terms${query}`, { key: publishKey })
      assert.equal(answer.status, 400, query)
      assert.equal(problemOf(answer).errors?.[0]?.code, code)
    }
    // The future is not known: it is answered as of now.
    const future = await termsOf(service(), agentRef, '?at=2999-01-01', publishKey)
    assert.ok(Date.parse(future.at) <= Date.now() + 300_000)
  })

  it('are the same for an operator, who names the tenant (D11)', async () => {
    const { tenantId, publishKey } = service().tenant
    const agentRef = randomUUID()
    const [event] = (await publish(service(), letting(agentRef, 1_100))).events
    const at = `?at=${event?.createdDate}`
    const operator = await service().issue({ operator: true, adminScopes: ['admin:inspect'] })
    const path = `/v1/admin/tenants/${tenantId}/properties/${agentRef}/terms${at}`
    const answer = await call(service(), path, { key: operator.text })
    assert.equal(answer.status, 200, answer.text)
    const terms: PropertyTerms = JSON.parse(answer.text)
    const own = await termsOf(service(), agentRef, at, publishKey)
    assert.deepEqual({ ...terms, recordedFrom: '' }, { ...own, recordedFrom: '' })
  })
})

it('of an event that is older than the record say so of its sendings and reports, once it was removed (PROTOCOL §14.8)', async () => {
  let nowMs = Date.now()
  const own = await startTestService({ clock: () => nowMs, limits: { resultDays: 30 } })
  try {
    const { tenantId, publishKey, readKey } = own.tenant
    await own.issue({ grants: [{ tenantId, scopes: ['property:read'] }] })
    const agentRef = randomUUID()
    const [first] = (await publish(own, letting(agentRef, 1_250))).events
    await call(own, list, { key: readKey })
    const said = [{ agentRef, sequenceNumber: first?.sequenceNumber, outcome: 'live' }]
    const results = { method: 'POST', key: readKey, headers: json, body: JSON.stringify(said) }
    await call(own, '/v1/property-consumers/default/results', results)
    const before = await termsOf(own, agentRef, '', publishKey)
    const sendings = ({ consumers }: PropertyTerms) =>
      consumers.map(({ sent, live }) => [sent, live.length, live[0]?.from])
    const reportedAt = before.consumers.find(({ live }) => live.length > 0)?.live[0]?.from
    assert.deepEqual(
      sendings(before).filter(([sent]) => sent === 'first'),
      [['first', 1, reportedAt]],
    )
    nowMs += 31 * 86_400_000
    const after = await termsOf(own, agentRef, '', publishKey)
    assert.equal(Date.parse(after.recordedFrom), nowMs - 30 * 86_400_000)
    assert.deepEqual(
      sendings(after).filter(([, live]) => live === 1),
      [['time_not_recorded', 1, null]],
    )
    // It reads everything again: that is not the first time.
    await call(own, list, { key: readKey })
    assert.deepEqual(sendings(await termsOf(own, agentRef, '', publishKey)), sendings(after))
    const never = after.consumers.find(({ live }) => live.length === 0)
    assert.equal(never?.sent, 'not_recorded')
  } finally {
    await own.stop()
  }
})
