/** A key that is limited to roles and fields of contacts: every event in its place, and nothing in its bytes that the key is not given. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { usualContactFields } from '@property-events/protocol'
import type { ContactLimits } from '@property-events/protocol'
import { openStream } from '../support/event-stream.ts'
import { call, pageOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact } from '../support/property.ts'

const listPath = '/api/func/api/v1/contactevents/getevents'
const secret = 'hidden-5e1f'
const vendor = randomUUID()
const applicant = randomUUID()

type Fields = Readonly<Record<string, unknown>>

interface Event {
  readonly id: string
  readonly sequenceNumber: number
  readonly createdDate: string
  readonly eventTypeShortCode: string
  readonly transactionId: string
  readonly payload: string
}

/** All that a payload may have, `own` in what a limited key is given and the secret everywhere else. */
function whole(reference: string, role: string, own: string): Fields {
  return contact({
    contact_ref: reference,
    last_name: own,
    first_name: secret,
    notes: secret,
    roles: [role],
    properties: [
      { agent_ref: randomUUID(), role },
      { agent_ref: randomUUID(), role: 'solicitor', remark: secret },
    ],
    communications: [{ channel: 'email', value: `${secret}@example.com` }],
    made_up_by_the_publisher: secret,
  })
}

const limits: ContactLimits = { roles: ['vendor', 'landlord'], fields: ['last_name', 'roles', 'properties'] }

function unzipped({ headers, body }: Answer): string {
  return (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString()
}

function payloadOf({ payload }: Pick<Event, 'payload'>): Fields {
  const fields: Fields = JSON.parse(payload)
  return fields
}

onEngines('a key that is limited to roles and fields of contacts', {}, (service) => {
  const keys = { all: '', limited: '', usual: '' }

  before(async () => {
    const { tenantId } = service().tenant
    const issue = async (given?: ContactLimits) => {
      const grant = { tenantId, scopes: ['contact:read', 'tenant:inspect'] as const }
      return (await service().issue({ grants: [{ ...grant, ...(given && { contact: given }) }] })).text
    }
    keys.all = await issue()
    keys.limited = await issue(limits)
    keys.usual = await issue({ roles: ['vendor'] })
    const changes = Array.from({ length: 60 }, (_, n) => [
      { payload: whole(vendor, n === 30 ? 'applicant' : 'vendor', `Vendor ${n}`) },
      { payload: whole(applicant, 'applicant', secret) },
    ])
    await publish(service(), changes.flat(), { feed: 'contact' })
    await publish(service(), [{ payload: { contact_ref: applicant }, eventType: 'ContactErased' }], {
      feed: 'contact',
    })
  })

  const eventsOf = (text: string): readonly Event[] => {
    const { items } = JSON.parse(text) as { readonly items: readonly Event[] }
    return items
  }
  const read = async (path: string, key: string, coding = 'identity') =>
    call(service(), path, { key, headers: { 'accept-encoding': coding } })
  const all = async () => pageOf(await read(`${listPath}?pageSize=1000`, keys.all)).items

  it('has every event in its place, and of contacts with other roles the removal alone (D11, D23)', async () => {
    const whole = await all()
    const shown = pageOf(await read(`${listPath}?pageSize=1000`, keys.limited)).items
    assert.equal(shown.length, 121)
    for (const [index, event] of whole.entries()) {
      const seen = shown[index] ?? assert.fail('an event is missing')
      const { id, sequenceNumber, createdDate, transactionId, tenantId } = event
      const kept = { id, sequenceNumber, createdDate, transactionId, tenantId }
      assert.deepEqual({ ...seen, ...kept }, seen)
      const { contact_ref: reference, last_name: name, roles = [], properties } = payloadOf(event)
      if (!(roles as readonly unknown[]).includes('vendor')) {
        assert.equal(seen.eventTypeShortCode, 'ContactErased')
        assert.deepEqual(payloadOf(seen), { contact_ref: reference, published: false, erased: true })
      } else {
        assert.equal(seen.eventTypeShortCode, event.eventTypeShortCode)
        const [own] = properties as readonly unknown[]
        const given = { contact_ref: reference, last_name: name, roles: ['vendor'], properties: [own] }
        assert.deepEqual(payloadOf(seen), given)
      }
    }
    assert.ok(shown.some(({ eventTypeShortCode }) => eventTypeShortCode === 'ContactUpdated'))
  })

  it('gets all known fields except notes if it names none (D11)', async () => {
    const path = `/v1/contacts/${vendor}`
    const event: Event = JSON.parse((await read(path, keys.usual)).text)
    const names = Object.keys(payloadOf(event))
    assert.ok(!names.includes('notes') && names.includes('communications'))
    assert.ok(names.every((name) => name === 'contact_ref' || usualContactFields.some((one) => one === name)))
    assert.ok(payloadOf(JSON.parse((await read(path, keys.all)).text) as Event)['notes'] !== undefined)
  })

  it('is given nothing else on any route, plain or compressed, and the same bytes on all (D11, P9)', async () => {
    const events = pageOf(await read(`${listPath}?pageSize=1000`, keys.limited)).items
    const byId = new Map(events.map((event) => [event.id, event]))
    const some = events.filter((_, index) => index % 40 === 1)
    const paths = [
      `${listPath}?pageSize=100`,
      `${listPath}?pageSize=25&page=3`,
      `${listPath}?pageSize=7&from=2020-01-01`,
      `${listPath}?current=true`,
      '/v1/contact-events?after=3&limit=50',
      '/v1/contact-events?after=3&limit=50&wait=1',
      '/v1/contact-events/snapshot',
      `/v1/contacts/${vendor}/history`,
      `/v1/contacts/${applicant}/history`,
      `/v1/contacts/${vendor}/history?changes=true`,
      `/v1/contacts/${vendor}/history?changes=true&after=70`,
      `/v1/contacts/${applicant}/history?changes=true`,
      `/v1/contacts/${vendor}`,
      `/v1/contacts/${applicant}`,
      ...some.map(({ id }) => `/api/func/api/v1/contactevents/geteventbyid/${id}`),
    ]
    for (const path of paths) {
      for (const coding of ['identity', 'gzip']) {
        const answer = await read(path, keys.limited, coding)
        assert.equal(answer.status, 200, path)
        const text = unzipped(answer)
        assert.ok(!text.includes(secret), path)
        const lines = path.endsWith('snapshot') ? text.trimEnd().split('\n').slice(0, -1) : [text]
        const found = lines.flatMap((line): readonly Event[] => {
          const value: Event & { readonly items?: readonly Event[] } = JSON.parse(line)
          return value.items ?? [value]
        })
        assert.ok(found.length > 0, path)
        for (const event of found) assert.deepEqual({ ...event, ...byId.get(event.id) }, event, path)
        if (!path.includes('changes'))
          for (const event of found) assert.deepEqual(event, byId.get(event.id), path)
        if (path === `/v1/contacts/${applicant}`) continue
        assert.ok((await read(path, keys.all)).text.includes(secret), `${path}, for the other key`)
      }
    }
  })

  it('gets nothing else from a stream, beside a key that gets everything (D11, L1)', async () => {
    const path = '/v1/contact-events?limit=1000'
    for (const key of [keys.limited, keys.all, keys.limited]) {
      const reader = await openStream(service(), '/v1/contact-events/stream?after=0', { key })
      await reader.until(({ numbers }) => numbers().length >= 121, 'all events')
      const told = reader.messages
        .filter(({ event }) => event !== 'mark')
        .map(({ data }): unknown => JSON.parse(data))
      reader.close()
      assert.deepEqual(told, eventsOf((await read(path, key)).text))
    }
  })

  it('filters by the types that it sees: a hidden contact is a removal (D11, PROTOCOL §13.4)', async () => {
    const shown = pageOf(await read(`${listPath}?pageSize=1000`, keys.limited)).items
    const told = ({ eventTypeShortCode: code }: Pick<Event, 'eventTypeShortCode'>) =>
      code !== 'ContactUpdated'
    const expected = shown.filter(told).map(({ sequenceNumber }) => sequenceNumber)
    assert.ok(expected.length > 60 && expected.length < shown.length)
    for (const wait of ['', '&wait=1']) {
      const path = `/v1/contact-events?limit=1000&types=ContactCreated${wait}`
      const events = eventsOf((await read(path, keys.limited)).text)
      assert.deepEqual(
        events.map(({ sequenceNumber }) => sequenceNumber),
        expected,
      )
      assert.ok(events.every(told))
    }
    const path = '/v1/contact-events/stream?after=0&types=ContactCreated'
    const reader = await openStream(service(), path, { key: keys.limited })
    await reader.until(({ numbers }) => numbers().length >= expected.length, 'all of these types')
    reader.close()
    assert.deepEqual(reader.numbers(), expected)
  })

  it('has ready-made pages and tags of its own (D4, P9)', async () => {
    const path = `${listPath}?pageSize=100`
    const first = [await read(path, keys.all), await read(path, keys.limited)].map(({ text }) => text)
    assert.notEqual(first[0], first[1])
    for (let round = 0; round < 15; round += 1) {
      for (const [index, key] of [keys.all, keys.limited].entries()) {
        assert.equal(unzipped(await read(path, key)), first[index])
        assert.equal(unzipped(await read(path, key, 'gzip')), first[index])
      }
    }
    const [event] = await all()
    const tagged = [
      path,
      `${listPath}?pageSize=10&from=2020-01-01&to=2030-01-01`,
      `${listPath}?current=true`,
      `/api/func/api/v1/contactevents/geteventbyid/${event?.id}`,
      `/v1/contacts/${vendor}`,
    ]
    for (const path of tagged) {
      const tag = String((await read(path, keys.all)).headers.etag)
      const headers = { 'if-none-match': tag }
      assert.equal((await call(service(), path, { key: keys.all, headers })).status, 304, path)
      for (const key of [keys.limited, keys.usual])
        assert.equal((await call(service(), path, { key, headers })).status, 200, path)
    }
  })

  it('streams pages that are too long to be made at once with their length, like others (D11, D20)', async () => {
    const long = randomUUID()
    const payload = { ...whole(long, 'vendor', 'long'.repeat(50_000)), notes: secret.repeat(1_000) }
    const changes = Array.from({ length: 45 }, (_, n) => ({ payload: { ...payload, salutation: `${n}` } }))
    await publish(service(), changes, { feed: 'contact' })
    const page = await read(`${listPath}?pageSize=1000`, keys.limited)
    assert.equal(page.status, 200)
    assert.ok(!page.text.includes(secret))
    const { items } = pageOf(page)
    assert.equal(items.length, 166)
    assert.ok(page.body.byteLength > 8 * 2 ** 20, 'too long to be made whole')
    assert.equal(payloadOf(items.at(-1) ?? assert.fail())['last_name'], 'long'.repeat(50_000))
    const zipped = await read(`${listPath}?pageSize=1000`, keys.limited, 'gzip')
    assert.equal(unzipped(zipped), page.text)
  })

  it('sees no more when it reveals a contact, unless it is an operator’s key (PROTOCOL §12.7)', async () => {
    const { tenantId } = service().tenant
    const operator = await service().issue({ operator: true, adminScopes: ['admin:reveal'] })
    const reveal = async (key: string) => {
      const path = `/v1/admin/tenants/${tenantId}/contacts/${vendor}/reveal`
      const headers = { 'content-type': 'application/json' }
      return call(service(), path, { method: 'POST', key, headers, body: '{"reason":"support"}' })
    }
    const shown = await reveal(keys.limited)
    assert.equal(shown.status, 200)
    assert.equal(shown.text, (await read(`/v1/contacts/${vendor}`, keys.limited)).text)
    assert.ok((await reveal(operator.text)).text.includes(secret))
  })

  it('is made over HTTP with names that are known, shown with them, and keeps them when it is rotated (PROTOCOL §12.4)', async () => {
    const { tenantId } = service().tenant
    const { text: operator } = await service().issue({
      operator: true,
      adminScopes: ['admin:manage', 'admin:inspect'],
    })
    const make = (grant: Fields) =>
      call(service(), '/v1/admin/keys', {
        method: 'POST',
        key: operator,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ label: 'Partner', grants: [{ tenantId, ...grant }] }),
      })
    const scopes = ['contact:read']
    const made = await make({
      scopes,
      contact: { fields: ['roles', 'last_name'], roles: ['landlord', 'vendor'] },
    })
    assert.equal(made.status, 201, made.text)
    const body = JSON.parse(made.text) as {
      readonly key: string
      readonly keyId: string
      readonly grants: unknown
    }
    const given = {
      tenantId,
      scopes,
      contact: { roles: ['vendor', 'landlord'], fields: ['last_name', 'roles'] },
    }
    assert.deepEqual(body.grants, [given])
    const shown = await call(service(), `/v1/admin/keys/${body.keyId}`, { key: operator })
    assert.deepEqual((JSON.parse(shown.text) as { readonly grants: unknown }).grants, [given])
    const rotated = await call(service(), `/v1/admin/keys/${body.keyId}/rotate`, {
      method: 'POST',
      key: operator,
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    assert.equal(rotated.status, 201, rotated.text)
    const { key, grants } = JSON.parse(rotated.text) as { readonly key: string; readonly grants: unknown }
    assert.deepEqual(grants, [given])
    for (const text of [body.key, key]) {
      const page = await read(`${listPath}?pageSize=1000`, text)
      assert.ok(page.status === 200 && !page.text.includes(secret))
    }
    const wrong: readonly Fields[] = [
      { scopes, contact: {} },
      { scopes, contact: { roles: [] } },
      { scopes, contact: { fields: ['surname'] } },
      { scopes, contact: { roles: ['Vendor'] } },
      { scopes, contact: { roles: ['vendor'], notes: true } },
      { scopes, contact: null },
      { scopes, contact: 'vendor' },
      { scopes: ['property:read'], contact: { roles: ['vendor'] } },
    ]
    for (const grant of wrong) {
      const answer = await make(grant)
      assert.equal(answer.status, 400, JSON.stringify(grant))
      assert.match(answer.text, /"code":"invalid_body"/)
      assert.match(answer.text, /beside the scope contact:read/)
    }
  })
})
