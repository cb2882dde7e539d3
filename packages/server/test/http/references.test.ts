/** A key whose readers take `transactionId` for the reference of the property is shown that reference, through every door. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Grant, KeyReading } from '../../src/keys/key.ts'
import { openStream } from '../support/event-stream.ts'
import { call, contactListPath, getPath, listPath, pageOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'

interface Shown {
  readonly id: string
  readonly transactionId: string
  readonly payload: string
  readonly eventType: number
}

onEngines('a key that shows references as transaction ids', {}, (service) => {
  let keys = { usual: '', importer: '' }
  const homes = Array.from({ length: 70 }, (_, index) => {
    const { agent_ref, ...home } = property({ directions: 'Tŷ Gwyn – "½" \\ ","transactionId":" 🏡' })
    // Some have the reference last, some in upper case, some are written with blanks and escapes.
    if (index % 3 === 0) return JSON.stringify({ ...home, agent_ref })
    if (index % 3 === 1) return JSON.stringify({ agent_ref: agent_ref.toUpperCase(), ...home })
    return ` { "details" : { "agent_ref" : "${randomUUID()}" }, "\u005cu0061gent_ref" : "${agent_ref}", "published" : true }`
  })

  before(async () => {
    const { tenant } = service()
    const grants = [{ tenantId: tenant.tenantId, scopes: ['property:read', 'contact:read'] as const }]
    const issue = async (reading: KeyReading) => (await service().issue({ grants, reading })).text
    keys = {
      usual: await issue({ eventTypes: undefined, current: false }),
      importer: await issue({ eventTypes: 'published-0', current: false, references: true }),
    }
    await publish(
      service(),
      homes.map((payload) => ({ payload, transactionId: randomUUID() })),
    )
    const referenceOf = (payload: string) => (JSON.parse(payload) as { readonly agent_ref: string }).agent_ref
    await publish(
      service(),
      homes.slice(0, 40).map((payload) => ({
        remove: { agentRef: referenceOf(payload), reason: 9 },
        transactionId: randomUUID(),
      })),
    )
    await publish(service(), [{ payload: property() }])
  })

  const payloadOf = ({ payload }: Pick<Shown, 'payload'>) =>
    JSON.parse(payload) as { readonly agent_ref: string; readonly published: boolean }
  const numbers: Readonly<Record<number, number>> = { 0: 0, 1: 1, 2: 0 }
  /** What the usual key is answered, as this one should see it. */
  const expected = <Event extends Shown>(event: Event): Event => ({
    ...event,
    transactionId: payloadOf(event).agent_ref,
    eventType: numbers[event.eventType],
  })
  const eventsIn = (text: string): readonly Shown[] => {
    const values = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Shown & { readonly items?: readonly Shown[] })
    return values.flatMap((value) => value.items ?? value).filter((one) => 'payload' in one)
  }

  it('shows them in lists, events, runs, histories and snapshots, compressed or not (D15, P9)', async () => {
    const all = pageOf(await call(service(), `${listPath}?pageSize=1000`, { key: keys.usual })).items
    assert.equal(all.length, 111)
    const some = all.filter((_, index) => index % 11 === 0)
    const paths = [
      `${listPath}?pageSize=100`,
      `${listPath}?pageSize=25&page=3&apiEventType=sales-property`,
      `${listPath}?current=true&pageSize=60&page=1`,
      `${listPath}?from=2020-01-01&pageSize=7`,
      '/v1/property-events?after=3&limit=50',
      '/v1/property-events?after=3&limit=50&wait=1',
      '/v1/property-events/snapshot',
      ...some.map(({ id }) => `${getPath}/${id}`),
      ...some.map(({ payload }) => `/v1/properties/${payloadOf({ payload }).agent_ref}`),
      ...some.map(({ payload }) => `/v1/properties/${payloadOf({ payload }).agent_ref}/history`),
    ]
    for (const path of paths) {
      // Pages are sealed after they were sent, and come from there the next time.
      for (let round = 0; round < 3; round += 1) {
        const usual = await call(service(), path, { key: keys.usual })
        const read = await call(service(), path, { key: keys.importer })
        assert.deepEqual([usual.status, read.status], [200, 200], path)
        const [own, shown] = [eventsIn(usual.text), eventsIn(read.text)]
        assert.ok(shown.length > 0, path)
        assert.deepEqual(shown, own.map(expected), path)
        const headers = { 'accept-encoding': 'gzip' }
        const zipped = await call(service(), path, { key: keys.importer, headers })
        const body = zipped.headers['content-encoding'] === 'gzip' ? gunzipSync(zipped.body) : zipped.body
        assert.deepEqual(eventsIn(body.toString()), shown, `${path}, compressed`)
      }
    }
  })

  it('shows them in a stream, beside a key that sees what was sent (D15, P9)', async () => {
    const told: Record<string, readonly Shown[]> = {}
    for (const name of ['importer', 'usual', 'importer'] as const) {
      const reader = await openStream(service(), '/v1/property-events/stream?after=0', { key: keys[name] })
      await reader.until(({ numbers: seen }) => seen().length >= 111, 'all events')
      const messages = reader.messages.filter(({ event }) => event !== 'mark')
      reader.close()
      told[name] = messages.map(({ data }) => JSON.parse(data) as Shown)
    }
    assert.deepEqual(told['importer'], told['usual']?.map(expected))
  })

  it('has its own tags (D4)', async () => {
    for (const path of [`${listPath}?pageSize=10`, `${listPath}?pageSize=10&current=true`]) {
      const { etag = '' } = (await call(service(), path, { key: keys.usual })).headers
      const headers = { 'if-none-match': etag }
      assert.equal((await call(service(), path, { key: keys.importer, headers })).status, 200, path)
      assert.equal((await call(service(), path, { key: keys.usual, headers })).status, 304, path)
    }
  })

  it('lets a reader that knows a property by its transaction id remove it (D15, D26)', async () => {
    // As the public importer works: the newest of each transaction id; a removal takes the property whose agent_ref that is.
    const walk = async (key: string) => {
      const held = new Set<string>()
      const newest = new Map<string, Shown>()
      for (let page = 1; ; page += 1) {
        const path = `${listPath}?apiEventType=property&pageSize=25&page=${page}`
        const { items } = pageOf(await call(service(), path, { key })) as { readonly items: readonly Shown[] }
        if (items.length === 0) break
        for (const item of items) newest.set(item.transactionId, item)
      }
      for (const event of newest.values()) {
        if (event.eventType === 1) held.delete(event.transactionId)
        else held.add(payloadOf(event).agent_ref)
      }
      return held.size
    }
    assert.equal(await walk(keys.importer), 31)
    // Without it, nothing is ever removed.
    assert.equal(await walk(keys.usual), 71)
  })

  it('keeps the spelling that all events of a subject share (D15)', async () => {
    const home = property()
    const upper = { ...home, agent_ref: home.agent_ref.toUpperCase() }
    for (const payload of [upper, home]) await publish(service(), [{ payload }])
    const path = `/v1/properties/${home.agent_ref}/history`
    const { text } = await call(service(), path, { key: keys.importer })
    assert.deepEqual(
      eventsIn(text).map(({ transactionId }) => transactionId),
      [upper.agent_ref, upper.agent_ref],
    )
  })

  it('shows the reference of a contact, too (D15)', async () => {
    const payload = contact()
    await publish(service(), [{ payload, transactionId: randomUUID() }], { feed: 'contact' })
    const run = await call(service(), '/v1/contact-events?after=0', { key: keys.importer })
    assert.deepEqual(
      eventsIn(run.text).map(({ transactionId }) => transactionId),
      [payload['contact_ref']],
    )
  })

  const referenceOf = (event: Shown) => {
    const { agent_ref, contact_ref } = JSON.parse(event.payload) as Readonly<Record<string, string>>
    return agent_ref ?? contact_ref
  }
  /** Both keys read a page; afterwards each tag is good for one of them. */
  async function readApart(path: string, sent: string, shown: string): Promise<void> {
    const one = await call(service(), path, { key: sent })
    const other = await call(service(), path, { key: shown })
    const items = pageOf(one).items as readonly Shown[]
    assert.ok(items.length > 0)
    const withReferences = items.map((event) => ({ ...event, transactionId: referenceOf(event) }))
    assert.deepEqual(pageOf(other).items, withReferences, path)
    for (const [key, { headers }, status] of [
      [sent, one, 304],
      [sent, other, 200],
      [shown, one, 200],
      [shown, other, 304],
    ] as const) {
      const known = { 'if-none-match': headers.etag ?? assert.fail('a page has a tag') }
      assert.equal((await call(service(), path, { key, headers: known })).status, status, path)
    }
  }
  const named: Pick<Grant, 'contact'> = { contact: { fields: ['first_name'] } }
  for (const [what, eventTypes, limits] of [
    ['no other setting', undefined, {}],
    ['other numbers', 'published-0', {}],
    ['limits of contacts', undefined, named],
    ['other numbers and limits of contacts', 'published-0', named],
  ] as const) {
    it(`shares no page and no tag with a key that differs in this alone, both with ${what} (D4, D15, P9)`, async () => {
      const { tenantId } = service().tenant
      const grants: readonly Grant[] = [{ tenantId, scopes: ['property:read', 'contact:read'], ...limits }]
      const issue = (references: boolean) =>
        service().issue({ grants, reading: { eventTypes, current: false, references } })
      const [sent, shown] = [await issue(false), await issue(true)]
      await publish(service(), { payload: contact(), transactionId: randomUUID() }, { feed: 'contact' })
      // The page is sealed after one of them has read it, and comes from there the next time.
      for (let round = 0; round < 3; round += 1) {
        for (const query of [`${listPath}?pageSize=20`, `${listPath}?pageSize=20&current=true`]) {
          await readApart(query, sent.text, shown.text)
        }
        await readApart(`${contactListPath}?pageSize=20`, sent.text, shown.text)
      }
    })
  }
})
