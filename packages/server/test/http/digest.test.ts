/** What a feed shows, as digests (PROTOCOL §14.3): an own computation from its list agrees, and a client finds what differs. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { it } from 'node:test'
import type { ContactLimits } from '@property-events/protocol'
import { createClient } from '../../../client/src/index.ts'
import { call, pageOf, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'

interface Digest {
  readonly prefix: string
  readonly count: number
  readonly digest: string
  readonly parts:
    | readonly { readonly prefix: string; readonly count: number; readonly digest: string }[]
    | null
  readonly subjects: readonly { readonly subjectId: string; readonly sequenceNumber: number }[] | null
  readonly head: number
  readonly epoch: string
}

const emptyDigest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** As PROTOCOL §14.3 says it, word by word. */
function digestOf(numbers: ReadonlyMap<string, number>, prefix = ''): readonly [number, string] {
  const lines = [...numbers]
    .filter(([reference]) => reference.replaceAll('-', '').startsWith(prefix))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([reference, number]) => `${reference} ${number}\n`)
  return [lines.length, createHash('sha256').update(lines.join('')).digest('hex')]
}

onEngines('the digest of a feed', {}, (service) => {
  const digest = async (query = '', key = service().tenant.readKey, feed = 'property'): Promise<Digest> => {
    const answer = await call(service(), `/v1/${feed}-events/digest${query}`, { key })
    assert.equal(answer.status, 200, answer.text)
    return JSON.parse(answer.text) as Digest
  }

  /** The last event of each property, unless it removes it, from the contract's list alone. */
  const listed = async (
    type: string,
    key = service().tenant.readKey,
  ): Promise<ReadonlyMap<string, number>> => {
    const numbers = new Map<string, number>()
    for (let page = 1; ; page += 1) {
      const query = `?page=${page}&pageSize=1000&apiEventType=${type}`
      const answer = pageOf(await call(service(), `/api/func/api/v1/events/getevents${query}`, { key }))
      for (const { transactionId, sequenceNumber, eventTypeShortCode } of answer.items) {
        if (eventTypeShortCode === 'PropertyUnpublished') numbers.delete(transactionId)
        else numbers.set(transactionId, sequenceNumber)
      }
      if (page >= answer.totalPages) return numbers
    }
  }

  it('agrees with what the list leaves, whole and in parts, and leads to what differs (PROTOCOL §14)', async () => {
    const { tenant, url } = service()
    assert.deepEqual(await digest().then(({ count, digest: of }) => [count, of]), [0, emptyDigest])
    const refs = Array.from({ length: 1_100 }, () => crypto.randomUUID())
    for (let from = 0; from < refs.length; from += 550) {
      const events = refs.slice(from, from + 550).map((agent_ref, index) => ({
        payload: { agent_ref, published: true, price_information: { price: index } },
        category: index % 3 === 0 ? 'lettings' : 'sales',
      }))
      await publish(service(), events)
    }
    const [removed = '', moved = '', changed = ''] = refs
    await publish(service(), [
      { remove: { agentRef: removed } },
      { payload: { agent_ref: moved, published: true }, category: 'sales' },
      { payload: { agent_ref: changed, published: true, status: 1 } },
    ])
    for (const type of ['property', 'salesproperty', 'lettingsproperty']) {
      const numbers = await listed(type)
      const whole = await digest(`?apiEventType=${type}`)
      assert.deepEqual([whole.count, whole.digest], digestOf(numbers), type)
      assert.equal(whole.subjects === null, numbers.size > 1_000)
      for (const part of whole.parts ?? []) {
        assert.deepEqual([part.count, part.digest], digestOf(numbers, part.prefix), part.prefix)
      }
      const prefix = removed.slice(0, 1)
      const some = await digest(`?apiEventType=${type}&prefix=${prefix.toUpperCase()}`)
      assert.deepEqual([some.count, some.digest], digestOf(numbers, prefix))
      const inside = [...numbers]
        .filter(([ref]) => ref.startsWith(prefix))
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
      assert.deepEqual(
        some.subjects?.map(({ subjectId, sequenceNumber }) => [subjectId, sequenceNumber]),
        inside,
      )
    }
    assert.deepEqual((await digest(`?prefix=${removed.replaceAll('-', '')}`)).subjects, [])
    const one = await digest(`?prefix=${changed.replaceAll('-', '')}`)
    assert.equal(one.subjects?.[0]?.subjectId, changed)
    assert.ok(one.head >= 1_103)

    const client = createClient({ baseUrl: url, key: tenant.readKey })
    const numbers = await listed('property')
    const heldOf = (copy: ReadonlyMap<string, number>) =>
      [...copy].map(([subjectId, sequenceNumber]) => ({ subjectId, sequenceNumber }))
    const same = await client.compare({ held: heldOf(numbers) })
    assert.deepEqual(same, { differences: [], requests: 1, shown: 1_099, held: 1_099 })
    const copy = new Map(numbers)
    copy.delete(moved)
    copy.set(removed, 7)
    copy.set(changed, 3)
    const found = await client.compare({ held: heldOf(copy) })
    const expected = [
      { kind: 'missing', subjectId: moved, sequenceNumber: numbers.get(moved) },
      { kind: 'surplus', subjectId: removed, heldNumber: 7 },
      { kind: 'other', subjectId: changed, sequenceNumber: numbers.get(changed), heldNumber: 3 },
    ]
    assert.deepEqual(
      found.differences,
      expected.toSorted((a, b) => (a.subjectId < b.subjectId ? -1 : 1)),
    )
    assert.ok(found.requests <= 4, `${found.requests} requests`)
    const sales = await listed('salesproperty')
    assert.deepEqual(
      (await client.compare({ held: heldOf(sales), apiEventType: 'salesproperty' })).differences,
      [],
    )
  })

  it('covers contacts, too, and refuses a meaningless request (P10, PROTOCOL §14)', async () => {
    const { tenant, otherTenant } = service()
    const contactRef = crypto.randomUUID()
    const { events } = await publish(
      service(),
      { payload: contact({ contact_ref: contactRef }) },
      { feed: 'contact' },
    )
    const number = events[0]?.sequenceNumber ?? 0
    const known = await digest('', tenant.readKey, 'contact')
    assert.deepEqual([known.count, known.digest], digestOf(new Map([[contactRef, number]])))
    await publish(service(), { payload: property() }, { key: otherTenant.publishKey })
    assert.equal((await digest('', otherTenant.readKey)).count, 1)
    assert.equal((await digest('', otherTenant.readKey, 'contact')).count, 0)
    for (const query of [
      '?prefix=xyz',
      `?prefix=${'0'.repeat(33)}`,
      '?prefix=0b9d5c1e-',
      '?apiEventType=boats',
      '?after=1',
    ]) {
      const answer = await call(service(), `/v1/property-events/digest${query}`, { key: tenant.readKey })
      assert.deepEqual([answer.status, problemOf(answer).code], [400, 'invalid_parameter'], query)
    }
    const refused = await call(service(), '/v1/property-events/digest', { key: tenant.publishKey })
    assert.deepEqual([refused.status, problemOf(refused).code], [403, 'missing_scope'])
  })

  it('is to a key for contacts with some roles what its own list leaves (D11, PROTOCOL §14)', async () => {
    const { tenant, url } = service()
    const grant = { tenantId: tenant.tenantId, scopes: ['contact:read'] as const }
    const issue = async (limits: ContactLimits) =>
      (await service().issue({ grants: [{ ...grant, contact: limits }] })).text
    const vendors = await issue({ roles: ['vendor'] })
    const names = await issue({ fields: ['last_name'] })
    const roles = ['vendor', 'applicant', 'landlord'] as const
    const refs = Array.from({ length: 120 }, () => crypto.randomUUID())
    const state = (contact_ref: string, role: string) => ({
      payload: contact({ contact_ref, roles: [role], notes: 'n'.repeat(20_000) }),
    })
    for (let from = 0; from < refs.length; from += 60) {
      const items = refs.slice(from, from + 60).map((ref, n) => state(ref, roles[n % 3] ?? ''))
      await publish(service(), items, { feed: 'contact' })
    }
    // One is a vendor no more, one becomes one, and one goes.
    const [first = '', second = '', , fourth = ''] = refs
    const changes = [
      state(first, 'applicant'),
      state(second, 'vendor'),
      { payload: { contact_ref: fourth }, eventType: 'ContactErased' },
    ]
    await publish(service(), changes, { feed: 'contact' })

    const shownTo = async (key: string): Promise<ReadonlyMap<string, number>> => {
      const numbers = new Map<string, number>()
      for (let page = 1; ; page += 1) {
        const path = `/api/func/api/v1/contactevents/getevents?page=${page}&pageSize=50`
        const answer = pageOf(await call(service(), path, { key }))
        for (const { transactionId, sequenceNumber, eventTypeShortCode } of answer.items) {
          if (eventTypeShortCode === 'ContactErased') numbers.delete(transactionId)
          else numbers.set(transactionId, sequenceNumber)
        }
        if (page >= answer.totalPages) return numbers
      }
    }
    const everything = await shownTo(tenant.readKey)
    const ofVendors = await shownTo(vendors)
    assert.ok(ofVendors.has(second) && !ofVendors.has(first) && ofVendors.size >= 39)
    for (const [key, numbers] of [
      [vendors, ofVendors],
      [names, everything],
      [tenant.readKey, everything],
    ] as const) {
      const whole = await digest('', key, 'contact')
      assert.deepEqual([whole.count, whole.digest], digestOf(numbers))
      const client = createClient({ baseUrl: url, key, feed: 'contact' })
      const held = [...numbers].map(([subjectId, sequenceNumber]) => ({ subjectId, sequenceNumber }))
      assert.deepEqual((await client.compare({ held })).differences, [])
    }
    assert.deepEqual((await digest(`?prefix=${first.replaceAll('-', '')}`, vendors, 'contact')).subjects, [])
  })
})
