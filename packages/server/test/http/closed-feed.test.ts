/** A tenant whose feeds are closed, over HTTP: one answer, whatever was to be changed (PROTOCOL §5). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { postErasure } from '../support/canary.ts'
import { dayFromNow, postEndOfHold, postHold } from '../support/holds.ts'
import { call, problemOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact } from '../support/property.ts'
import { postEndOfRestriction, postRestriction, restrictContact } from '../support/restrictions.ts'
import type { TestService } from '../support/test-service.ts'

const feed = 'contact'

/** A contact, and the id of its first event. */
async function newContact(service: TestService) {
  const subjectId = crypto.randomUUID()
  const payloads = ['Siân, 24–26 Heol y Bont', 'Siân 🏡 £1,250 pcm'].map((note) =>
    contact({ contact_ref: subjectId, note }),
  )
  const { events } = await publish(
    service,
    payloads.map((payload) => ({ payload })),
    { feed },
  )
  return { subjectId, eventId: events[0]?.id ?? '' }
}

function idOf({ text }: Answer): string {
  return (JSON.parse(text) as { readonly id: string }).id
}

/** Each way to change what is stored of contacts, of contacts that are there. */
async function changesOf(service: TestService): Promise<Readonly<Record<string, () => Promise<Answer>>>> {
  const { publishKey, eraseKey } = service.tenant
  const [held, toHold, erased, thinned, restricted, toRestrict, kept] = await Promise.all(
    Array.from({ length: 7 }, () => newContact(service)),
  )
  const holdOn = (subjectId = '') => {
    return { feed, subjectId, ground: 'legal_claim', until: dayFromNow(30), caseRef: 'H-1' }
  }
  const hold = idOf(await postHold(service, holdOn(held?.subjectId)))
  const restriction = await restrictContact(service, restricted?.subjectId ?? '')
  const post = (query: string) => () =>
    call(service, `/v1/contact-events${query}`, {
      method: 'POST',
      key: publishKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ payload: contact({ contact_ref: crypto.randomUUID() }) }]),
    })
  const reason = 'objection'
  return {
    'a publication': post(''),
    'a dry run of one': post('?dryRun=true'),
    'a hold': () => postHold(service, holdOn(toHold?.subjectId)),
    'the end of a hold': () => postEndOfHold(service, hold),
    'the erasure of a contact': () => postErasure(service, { feed, subjectId: erased?.subjectId, reason }),
    'the erasure of an event': () => postErasure(service, { feed, eventId: thinned?.eventId, reason }),
    'a restriction': () => postRestriction(service, toRestrict?.subjectId),
    'the end of a restriction': () => postEndOfRestriction(service, restriction.id),
    'a contact kept': () =>
      call(service, `/v1/expiring-contacts/${kept?.subjectId}/keep`, { method: 'POST', key: eraseKey }),
  }
}

onEngines('the closed feeds of a tenant', {}, (service) => {
  it('answer every change alike and change nothing, until they are open again (PROTOCOL §5, P6)', async () => {
    const { storage, tenant, otherTenant } = service()
    const { tenantId } = tenant
    const changes = await changesOf(service())
    await storage.moves.change(tenantId, 'open', 'leaving', 'cli:test')
    const head = await storage.events.head({ tenantId, feed })
    for (const [name, change] of Object.entries(changes)) {
      const answer = await change()
      assert.deepEqual([answer.status, problemOf(answer).code], [503, 'tenant_moving'], name)
      assert.equal(answer.headers['retry-after'], '2', name)
    }
    assert.deepEqual(await storage.events.head({ tenantId, feed }), head)
    const other = { port: service().port, tenant: otherTenant }
    await publish(other, [{ payload: contact({ contact_ref: crypto.randomUUID() }) }], { feed })

    await storage.moves.change(tenantId, 'leaving', 'open', 'cli:test')
    for (const [name, change] of Object.entries(changes)) {
      const answer = await change()
      assert.ok(answer.status < 300, `${name}: ${answer.text}`)
    }
  })
})
