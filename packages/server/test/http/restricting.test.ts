/** Restricting contacts over HTTP (PROTOCOL §5.7, D17). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { addressesOf, canary, publishCanary, readAll, showing, tagsOf } from '../support/canary.ts'
import { call, contactListPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact } from '../support/property.ts'
import {
  postEndOfRestriction,
  postRestriction,
  restrictContact,
  untilRestriction,
} from '../support/restrictions.ts'
import type { RestrictionBody } from '../support/restrictions.ts'
import type { TestService } from '../support/test-service.ts'

async function listed(service: TestService) {
  const answer = await call(service, `${contactListPath}?pageSize=1000`, { key: service.tenant.readKey })
  return pageOf(answer).items
}

async function hidesAndShowsAgain(service: TestService): Promise<void> {
  const [, contacts] = await publishCanary(service)
  assert.ok(contacts?.feed === 'contact')
  const addresses = addressesOf([contacts])
  // Twice, so that pages are ready-made and known; then once more for their tags.
  for (let round = 0; round < 2; round += 1) await readAll(service, addresses)
  const before = await readAll(service, addresses)
  assert.ok(showing(before).length >= 20)
  const items = await listed(service)

  const { id, closing } = await restrictContact(service, contacts.subjectId)
  const during = await readAll(service, addresses, tagsOf(before))
  assert.deepEqual(showing(during), [])
  for (const [name, { status }] of during) assert.equal(status, 200, `${name} is read anew`)
  // What is published meanwhile is kept, and shown to nobody.
  const sent = {
    id: crypto.randomUUID(),
    payload: contact({ contact_ref: contacts.subjectId, note: canary }),
  }
  const receipt = await publish(service, [sent], { feed: 'contact' })
  assert.ok(receipt.warnings.some(({ code }) => code === 'restricted'))
  assert.deepEqual(showing(await readAll(service, addresses)), [])
  const hidden = await listed(service)
  assert.deepEqual(
    hidden.slice(0, items.length).map((item) => ({ ...item, payload: '' })),
    items.map((item) => ({ ...item, payload: '' })),
    'numbers, dates and ids are what they were',
  )
  assert.deepEqual(
    hidden.slice(items.length).map(({ eventTypeShortCode, id: event }) => [eventTypeShortCode, event]),
    [
      ['ContactErased', closing.id],
      ['ContactErased', sent.id],
    ],
  )

  const tags = tagsOf(await readAll(service, addresses))
  const ended = await postEndOfRestriction(service, id)
  assert.equal(ended.status, 202, ended.text)
  await untilRestriction(service, id, 'lifted')
  const after = await readAll(service, addresses, tags)
  assert.deepEqual(showing(after), showing(before))
  const shown = await listed(service)
  assert.deepEqual(shown.slice(0, items.length), items, 'every event as it was (P9)')
  const last = shown.at(-1)
  assert.deepEqual(
    [last?.eventTypeShortCode, JSON.parse(last?.payload ?? '')],
    ['ContactCreated', sent.payload],
  )
  assert.equal(service.logLines.join('').includes(canary), false)
}

onEngines('restricting', {}, (service) => {
  it('shows a contact in no answer, plain or gzipped, nor under an old tag, and every event as it was after it (D17, P9)', async () => {
    await hidesAndShowsAgain(service())
  })

  it('is returned in its present state, to its tenant alone, and ended once (P10)', async () => {
    const { tenant, otherTenant } = service()
    const subjectId = crypto.randomUUID()
    await publish(service(), [{ payload: contact({ contact_ref: subjectId }) }], { feed: 'contact' })
    const restriction = await restrictContact(service(), subjectId)
    const { tenantId, feed, reason, caseRef, endedAt } = restriction
    assert.deepEqual(
      [tenantId, feed, reason, caseRef, endedAt],
      [tenant.tenantId, 'contact', 'objection', 'R-1', null],
    )
    const again = JSON.parse((await postRestriction(service(), subjectId)).text) as RestrictionBody
    assert.equal(again.id, restriction.id, 'there is one already')
    const list = await call(service(), '/v1/restrictions', { key: tenant.eraseKey })
    const { restrictions } = JSON.parse(list.text) as { restrictions: readonly RestrictionBody[] }
    assert.equal(restrictions.at(-1)?.id, restriction.id)
    const theirs = await call(service(), '/v1/restrictions', { key: otherTenant.eraseKey })
    assert.deepEqual(JSON.parse(theirs.text), { restrictions: [], next: null })
    for (const answer of [
      await call(service(), `/v1/restrictions/${restriction.id}`, { key: otherTenant.eraseKey }),
      await postEndOfRestriction(service(), restriction.id, otherTenant.eraseKey),
    ])
      assert.deepEqual([answer.status, problemOf(answer).code], [404, 'restriction_not_found'])
    await postEndOfRestriction(service(), restriction.id)
    await untilRestriction(service(), restriction.id, 'lifted')
    const ended = await postEndOfRestriction(service(), restriction.id)
    assert.equal((JSON.parse(ended.text) as RestrictionBody).state, 'lifted')
    for (const key of [tenant.readKey, tenant.publishKey]) {
      const denied = await postRestriction(service(), subjectId, key)
      assert.deepEqual([denied.status, problemOf(denied).code], [403, 'missing_scope'])
    }
  })

  it('refuses everything that is not exactly a restriction, and repeats none of it (P11, D18)', async () => {
    const good = { feed: 'contact', subjectId: crypto.randomUUID(), reason: 'objection' }
    const faults: readonly (readonly [unknown, string])[] = [
      [[], ''],
      [{ ...good, feed: 'property' }, '/feed'],
      [{ ...good, subjectId: 'Mrs Example' }, '/subjectId'],
      [{ ...good, reason: 'Mrs Example asked' }, '/reason'],
      [{ ...good, caseRef: 'Mrs Example' }, '/caseRef'],
      [{ ...good, until: '2030-01-01' }, '/until'],
    ]
    for (const [body, pointer] of faults) {
      const answer = await postRestriction(service(), body)
      const problem = problemOf(answer)
      assert.deepEqual(
        [answer.status, problem.code, problem.errors?.[0]?.pointer],
        [400, 'invalid_body', pointer],
      )
      assert.equal(answer.text.includes('Mrs Example'), false)
    }
    const unknown = await postRestriction(service(), good)
    assert.deepEqual([unknown.status, problemOf(unknown).code], [404, 'subject_not_found'])
    assert.equal((await postEndOfRestriction(service(), 'one')).status, 400)
    assert.equal((await postEndOfRestriction(service(), crypto.randomUUID())).status, 404)
  })
})
