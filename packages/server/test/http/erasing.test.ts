/** Erasing over HTTP (PROTOCOL §5.7, D17). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addressesOf,
  canary,
  eraseAll,
  postErasure,
  publishCanary,
  readAll,
  receiptOf,
  showing,
  tagsOf,
} from '../support/canary.ts'
import type { ReceiptBody } from '../support/canary.ts'
import { StorageFailure } from '../../src/index.ts'
import type { ErasureList, StorageEngine } from '../../src/index.ts'
import { call, contactListPath, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

/** Everything of a list but its payloads. */
async function framesOf(service: TestService): Promise<readonly unknown[]> {
  const answer = await call(service, `${listPath}?pageSize=1000`, { key: service.tenant.readKey })
  return pageOf(answer).items.map((item) => ({ ...item, payload: '' }))
}

async function showsNothingAfterwards(service: TestService): Promise<void> {
  const erased = await publishCanary(service)
  const addresses = addressesOf(erased)
  // Twice, so that pages are ready-made and known; then once more for their tags.
  for (let round = 0; round < 2; round += 1) await readAll(service, addresses)
  const before = await readAll(service, addresses)
  const shown = new Set(showing(before))
  for (const address of addresses) {
    if (!address.endsWith('/reduced')) assert.ok(shown.has(`${address} gzip`), `${address} shows it before`)
  }
  const frames = await framesOf(service)

  const receipts = await eraseAll(service, erased)
  const after = await readAll(service, addresses, tagsOf(before))
  assert.deepEqual(showing(after), [])
  for (const [name, { status }] of after) assert.equal(status, 200, `${name} is read anew`)
  assert.deepEqual(showing(await readAll(service, addresses)), [], 'and again')
  assert.deepEqual(
    (await framesOf(service)).slice(0, -1),
    frames,
    'numbers, dates and ids are what they were',
  )
  for (const { events, reduced, closing } of receipts) {
    assert.deepEqual([events, reduced], [3, 3])
    assert.equal(closing?.sequenceNumber, 214)
  }
  assert.equal(service.logLines.join('').includes(canary), false)
  const { metricsUrl = '' } = service.service
  assert.equal((await (await fetch(metricsUrl)).text()).includes(canary), false)
}

onEngines('erasing', {}, (service) => {
  it('leaves the payloads in no answer, plain or gzipped, nor under an old tag, in the log or the metrics (D17)', async () => {
    await showsNothingAfterwards(service())
  })

  it('answers with a receipt that its tenant can read again, and list (PROTOCOL §5.7)', async () => {
    const { tenant, otherTenant } = service()
    const subjectId = crypto.randomUUID()
    await publish(service(), [{ payload: contact({ contact_ref: subjectId }) }], { feed: 'contact' })
    const words = { reason: 'objection', caseRef: 'DSAR-2026-17', receivedOn: '2026-01-31' }
    const begun = await postErasure(service(), { feed: 'contact', subjectId, ...words })
    assert.equal(begun.status, 202, begun.text)
    const receipt = JSON.parse(begun.text) as ReceiptBody
    assert.deepEqual(
      { ...words, tenantId: tenant.tenantId, feed: 'contact', subjectId, events: 1 },
      {
        ...words,
        tenantId: receipt['tenantId'],
        feed: receipt['feed'],
        subjectId: receipt['subjectId'],
        events: receipt.events,
      },
    )
    assert.ok(receipt.notCovered.some(({ code }) => code === 'backups'))
    const again = await receiptOf(service(), receipt.id)
    assert.equal(again.id, receipt.id)
    const list = await call(service(), '/v1/erasures', { key: tenant.eraseKey })
    const { erasures, next } = JSON.parse(list.text) as { erasures: readonly ReceiptBody[]; next: null }
    assert.ok(erasures.some(({ id }) => id === receipt.id))
    assert.equal(next, null)
    // Another tenant's key sees none of it (P10).
    const other = await call(service(), `/v1/erasures/${receipt.id}`, { key: otherTenant.eraseKey })
    assert.deepEqual([other.status, problemOf(other).code], [404, 'erasure_not_found'])
    const theirs = await call(service(), '/v1/erasures', { key: otherTenant.eraseKey })
    assert.deepEqual(JSON.parse(theirs.text), { erasures: [], next: null })
  })

  it('counts in a dry run and changes nothing (PROTOCOL §5.7)', async () => {
    const subjectId = crypto.randomUUID()
    const versions = [1, 2].map((price) => ({
      payload: property({ agent_ref: subjectId, price_information: { price } }),
    }))
    const { events } = await publish(service(), versions)
    const body = { feed: 'property', subjectId, reason: 'unlawful' }
    const counted = await postErasure(service(), body, '?dryRun=true')
    assert.deepEqual(
      [counted.status, JSON.parse(counted.text)],
      [200, { dryRun: true, tenantId: service().tenant.tenantId, feed: 'property', subjectId, events: 2 }],
    )
    const latest = await call(service(), `/v1/properties/${subjectId}`, { key: service().tenant.readKey })
    assert.ok(latest.text.includes(events[1]?.id ?? '-'))
  })

  it("erases one event, and refuses a subject's latest; its id stays taken (D14, D17)", async () => {
    const payload = property()
    const sent = { payload, id: crypto.randomUUID() }
    await publish(service(), [sent])
    const body = { feed: 'property', eventId: sent.id, reason: 'published_in_error' }
    const refused = await postErasure(service(), body)
    assert.deepEqual([refused.status, problemOf(refused).code], [409, 'event_is_latest'])
    await publish(service(), [{ payload: { ...payload, status: 2 } }])
    const begun = await postErasure(service(), body)
    assert.equal(begun.status, 202, begun.text)
    assert.equal((JSON.parse(begun.text) as ReceiptBody).closing, null)
    const { id } = JSON.parse(begun.text) as ReceiptBody
    while ((await receiptOf(service(), id)).state !== 'unreachable') continue
    const again = await call(service(), '/v1/property-events', {
      method: 'POST',
      key: service().tenant.publishKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(sent),
    })
    assert.deepEqual([again.status, problemOf(again).code], [409, 'id_conflict'])
    assert.match(problemOf(again).errors?.[0]?.message ?? '', /content has been erased/)
  })

  it('names by revision the numbers that were reduced, and refuses a future revision (PROTOCOL §11.6)', async () => {
    const { tenant } = service()
    const subjectId = crypto.randomUUID()
    const { events } = await publish(service(), [{ payload: property({ agent_ref: subjectId }) }])
    const ask = async (after: number) =>
      call(service(), `/v1/property-events/reduced?after=${after}`, { key: tenant.readKey })
    const { revision } = JSON.parse((await ask(0)).text) as { revision: number }
    await eraseAll(service(), [{ feed: 'property', subjectId }])
    const answer = JSON.parse((await ask(revision)).text) as Record<string, unknown>
    assert.deepEqual(
      { items: answer['items'], next: answer['next'], revision: answer['revision'] },
      {
        items: [{ revision: revision + 1, sequenceNumbers: [events[0]?.sequenceNumber] }],
        next: revision + 1,
        revision: revision + 1,
      },
    )
    const beyond = await ask(revision + 2)
    assert.deepEqual([beyond.status, problemOf(beyond).code], [409, 'cursor_beyond_head'])
  })

  it('refuses everything that is not exactly an erasure, and repeats none of it (P11, D18)', async () => {
    const subjectId = crypto.randomUUID()
    const good = { feed: 'contact', subjectId, reason: 'objection' }
    const faults: readonly (readonly [unknown, string])[] = [
      ['', ''],
      ['[]', ''],
      ['{"feed":"contact","feed":"contact"}', ''],
      [{ ...good, feed: 'contacts' }, '/feed'],
      [{ ...good, reason: 'Mrs Example asked' }, '/reason'],
      [{ ...good, reason: undefined }, '/reason'],
      [{ ...good, subjectId: 'Mrs Example' }, '/subjectId'],
      [{ ...good, eventId: subjectId }, '/subjectId'],
      [{ feed: 'contact', reason: 'objection' }, '/subjectId'],
      [{ ...good, caseRef: 'Mrs Example' }, '/caseRef'],
      [{ ...good, caseRef: 'x'.repeat(41) }, '/caseRef'],
      [{ ...good, receivedOn: '2025-02-30' }, '/receivedOn'],
      [{ ...good, subject: subjectId }, '/subject'],
    ]
    for (const [body, pointer] of faults) {
      const answer = await postErasure(service(), body)
      const problem = problemOf(answer)
      assert.deepEqual(
        [answer.status, problem.code, problem.errors?.[0]?.pointer],
        [400, 'invalid_body', pointer],
      )
      assert.equal(answer.text.includes('Mrs Example'), false)
    }
    const unknown = await postErasure(service(), good)
    assert.deepEqual([unknown.status, problemOf(unknown).code], [404, 'subject_not_found'])
    const large = await postErasure(service(), { ...good, x: 'x'.repeat(5_000) })
    assert.equal(large.status, 413)
    for (const key of [service().tenant.readKey, service().tenant.publishKey]) {
      const denied = await postErasure(service(), good, '', key)
      assert.deepEqual([denied.status, problemOf(denied).code], [403, 'missing_scope'])
    }
  })
})

describe('erasing by a node with a list of erasures', () => {
  it('ends when the erasure is on the list, and no sooner; earlier erasures are on it too (D17)', async () => {
    const noted: string[] = []
    let isFull = true
    const erasureList: ErasureList = {
      listed: [],
      async note(erasures) {
        if (isFull && erasures.length > 0) throw new Error('the disk of the list is full')
        noted.push(...erasures.map(({ erasureId }) => erasureId).filter((id) => !noted.includes(id)))
      },
      close: async () => undefined,
    }
    const service = await startTestService({ erasureList })
    try {
      const subjectId = crypto.randomUUID()
      await publish(service, [{ payload: contact({ contact_ref: subjectId }) }], { feed: 'contact' })
      const begun = await postErasure(service, { feed: 'contact', subjectId, reason: 'objection' })
      const { id } = JSON.parse(begun.text) as ReceiptBody
      const isTold = () => service.logLines.some((line) => line.includes('the disk of the list is full'))
      await until(async () => isTold() && (await receiptOf(service, id)).state === 'reduced')
      assert.deepEqual(noted, [])
      isFull = false
      await until(async () => (await receiptOf(service, id)).state === 'unreachable')
      assert.deepEqual(noted, [id])
    } finally {
      await service.stop()
    }
  })
})

describe('erasing from a store whose notices of changes get lost', () => {
  it('leaves no earlier tag valid once it is unreachable (D17)', async () => {
    const wrap = (storage: StorageEngine): StorageEngine => ({
      ...storage,
      events: { ...storage.events, changeCount: () => 0 },
    })
    const service = await startTestService({ wrap })
    try {
      const { readKey } = service.tenant
      const payload = contact()
      await publish(
        service,
        Array.from({ length: 20 }, () => ({ payload: contact() })),
        { feed: 'contact' },
      )
      await publish(service, [{ payload }], { feed: 'contact' })
      const path = `${contactListPath}?pageSize=10`
      // What is known of a feed is believed for a second.
      let tag = ''
      const isKnown = async () => {
        const answer = await call(service, path, { key: readKey })
        tag = answer.headers.etag ?? ''
        return pageOf(answer).availableCount === 21
      }
      await until(isKnown)
      await eraseAll(service, [{ feed: 'contact', subjectId: String(payload['contact_ref']) }])
      const again = await call(service, path, { key: readKey, headers: { 'if-none-match': tag } })
      assert.equal(again.status, 200)
      assert.equal(pageOf(again).availableCount, 22)
    } finally {
      await service.stop()
    }
  })
})

describe('erasing from a store that cannot say which backups were made', () => {
  it('begins nothing if it answers with a failure (D17)', async () => {
    let fails = true
    const wrap = (storage: StorageEngine): StorageEngine => ({
      ...storage,
      audit: {
        ...storage.audit,
        read: async (query) => {
          if (fails) throw new StorageFailure('storage_unavailable', new Error('no'))
          return storage.audit.read(query)
        },
      },
    })
    const service = await startTestService({ wrap })
    try {
      const subjectId = crypto.randomUUID()
      await publish(service, [{ payload: contact({ contact_ref: subjectId }) }], { feed: 'contact' })
      const refused = await postErasure(service, { feed: 'contact', subjectId, reason: 'objection' })
      assert.equal(refused.status, 503)
      fails = false
      const answer = await call(service, '/v1/erasures', { key: service.tenant.eraseKey })
      assert.deepEqual((JSON.parse(answer.text) as { erasures: unknown }).erasures, [])
      const list = await call(service, contactListPath, { key: service.tenant.readKey })
      assert.equal(pageOf(list).availableCount, 1, 'and closes nothing')
    } finally {
      await service.stop()
    }
  })
})
