/** Holds over HTTP (PROTOCOL §5.7, D17). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { postErasure } from '../support/canary.ts'
import { dayFromNow, listHolds, postEndOfHold, postHold } from '../support/holds.ts'
import type { HoldBody } from '../support/holds.ts'
import { problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact } from '../support/property.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

async function newContact(service: TestService): Promise<string> {
  const subjectId = crypto.randomUUID()
  await publish(service, [{ payload: contact({ contact_ref: subjectId }) }], { feed: 'contact' })
  return subjectId
}

onEngines('holds', { maintenanceFreshMs: 50 }, (service) => {
  it('keep a contact from being erased until they are ended (D17)', async () => {
    const { tenant, otherTenant } = service()
    const subjectId = await newContact(service())
    const until = dayFromNow(30)
    const words = { feed: 'contact', subjectId, ground: 'legal_claim', until, caseRef: 'CLAIM-2026-17' }
    const added = await postHold(service(), words)
    assert.equal(added.status, 201, added.text)
    const hold = JSON.parse(added.text) as HoldBody
    const { id, actor: _, addedAt, ...rest } = hold
    assert.deepEqual(rest, { ...words, tenantId: tenant.tenantId, state: 'active', endedAt: null })
    assert.ok(Math.abs(Date.parse(String(addedAt)) - Date.now()) < 600_000)
    assert.deepEqual((await listHolds(service())).at(-1), hold)

    const erasing = { feed: 'contact', subjectId, reason: 'objection' }
    for (const query of ['', '?dryRun=true']) {
      const refused = await postErasure(service(), erasing, query)
      assert.deepEqual([refused.status, problemOf(refused).code], [409, 'on_hold'])
      assert.ok(problemOf(refused).detail?.includes(until))
      assert.ok(problemOf(refused).detail?.includes(id))
    }

    // Another tenant's key sees none of it (P10).
    assert.deepEqual(await listHolds(service(), otherTenant.eraseKey), [])
    const foreign = await postEndOfHold(service(), id, otherTenant.eraseKey)
    assert.deepEqual([foreign.status, problemOf(foreign).code], [404, 'hold_not_found'])

    const ended = await postEndOfHold(service(), id.toUpperCase())
    assert.equal(ended.status, 200, ended.text)
    assert.equal((JSON.parse(ended.text) as HoldBody).state, 'ended')
    assert.equal((await postEndOfHold(service(), id)).text, ended.text, 'ended once')
    assert.equal((await postErasure(service(), erasing)).status, 202)
  })

  it('are seen and ended by keys that may erase in their feed, and by no others (P10)', async () => {
    const { tenantId } = service().tenant
    const subjectId = await newContact(service())
    const words = { feed: 'contact', subjectId, ground: 'complaint', until: dayFromNow(0) }
    const { id } = JSON.parse((await postHold(service(), words)).text) as HoldBody
    const { text: key } = await service().issue({ grants: [{ tenantId, scopes: ['property:erase'] }] })
    assert.ok((await listHolds(service(), key)).every(({ feed }) => feed === 'property'))
    assert.equal((await postEndOfHold(service(), id, key)).status, 404)
    assert.equal((await postHold(service(), words, key)).status, 403)
    for (const other of [service().tenant.readKey, service().tenant.publishKey]) {
      const denied = await postHold(service(), words, other)
      assert.deepEqual([denied.status, problemOf(denied).code], [403, 'missing_scope'])
    }
  })

  it('refuse everything that is not exactly a hold, and repeat none of it (P11, D18)', async () => {
    const subjectId = await newContact(service())
    const good = { feed: 'contact', subjectId, ground: 'regulator', until: dayFromNow(1) }
    const faults: readonly (readonly [unknown, string])[] = [
      ['[]', ''],
      [{ ...good, feed: 'contacts' }, '/feed'],
      [{ ...good, ground: 'Mrs Example is suing us' }, '/ground'],
      [{ ...good, ground: undefined }, '/ground'],
      [{ ...good, subjectId: 'Mrs Example' }, '/subjectId'],
      [{ ...good, until: undefined }, '/until'],
      [{ ...good, until: dayFromNow(-1) }, '/until'],
      [{ ...good, until: dayFromNow(21 * 366) }, '/until'],
      [{ ...good, until: '2027-02-29' }, '/until'],
      [{ ...good, until: '2027-02-28T00:00:00Z' }, '/until'],
      [{ ...good, until: 20270228 }, '/until'],
      [{ ...good, caseRef: 'Mrs Example' }, '/caseRef'],
      [{ ...good, reason: 'objection' }, '/reason'],
    ]
    for (const [body, pointer] of faults) {
      const answer = await postHold(service(), body)
      const problem = problemOf(answer)
      assert.deepEqual(
        [answer.status, problem.code, problem.errors?.map((fault) => fault.pointer)],
        [400, 'invalid_body', [pointer]],
        JSON.stringify(body),
      )
      assert.equal(answer.text.includes('Mrs Example'), false)
    }
    const unknown = await postHold(service(), { ...good, subjectId: crypto.randomUUID() })
    assert.deepEqual([unknown.status, problemOf(unknown).code], [404, 'subject_not_found'])
    const none = await postEndOfHold(service(), crypto.randomUUID())
    assert.deepEqual([none.status, problemOf(none).code], [404, 'hold_not_found'])
    assert.equal((await postEndOfHold(service(), 'one')).status, 400)
  })

  it('are neither added nor ended under maintenance: a copy that is being made would not have it (PROTOCOL §5.9)', async () => {
    const subjectId = await newContact(service())
    const words = { feed: 'contact', subjectId, ground: 'complaint', until: dayFromNow(1) }
    const { id } = JSON.parse((await postHold(service(), words)).text) as HoldBody
    await service().storage.setMaintenance({ sinceMs: Date.now(), retryAfterSeconds: 77 }, 'cli:test')
    try {
      await until(async () => (await postHold(service(), words)).status === 503)
      for (const refused of [await postHold(service(), words), await postEndOfHold(service(), id)]) {
        assert.deepEqual([refused.status, problemOf(refused).code], [503, 'maintenance'])
        assert.equal(refused.headers['retry-after'], '77')
      }
      const active = (await listHolds(service())).find((hold) => hold.id === id)
      assert.equal(active?.state, 'active')
    } finally {
      await service().storage.setMaintenance(undefined, 'cli:test')
    }
    await until(async () => (await postEndOfHold(service(), id)).status === 200)
  })
})
