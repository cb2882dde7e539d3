/** A key with another numbering reads the same events everywhere, with other numbers for their types and nothing else. */
import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { catalogues } from '@property-events/protocol'
import type { NumberingName } from '@property-events/protocol'
import { openStream } from '../support/event-stream.ts'
import { call, listPath, pageOf, publish } from '../support/http-client.ts'
import type { Answer, Receipt } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'

const own = 'default'
const other = 'published-0'

onEngines(`a key with the numbering ${other}`, { catalogue: catalogues[own] }, (service) => {
  let keys = { usual: '', other: '', same: '' }
  let receipt: Receipt | undefined
  const homes = Array.from({ length: 90 }, () => property())

  before(async () => {
    const { tenant } = service()
    const grants = [
      { tenantId: tenant.tenantId, scopes: ['property:read', 'contact:read', 'property:publish'] as const },
    ]
    const issue = async (eventTypes: NumberingName | undefined) =>
      (await service().issue({ grants, reading: { eventTypes, current: false } })).text
    keys = { usual: await issue(undefined), other: await issue(other), same: await issue(own) }
    const changed = homes.map((home, index) => ({
      payload: { ...home, published: index % 3 > 0, status: 2 },
    }))
    await publish(
      service(),
      homes.map((payload) => ({ payload })),
    )
    receipt = await publish(service(), [...changed, { payload: property() }], { key: keys.other })
  })

  /** What the usual key is answered, with the numbers of the other catalogue. */
  const expected = (answer: Answer): string =>
    answer.text.replaceAll(/"eventType":\d+(?=,"eventTypeShortCode":"(\w+)")/g, (_all, code: string) => {
      return `"eventType":${catalogues[other].property[code]}`
    })
  const withoutHead = (text: string): string => text.replaceAll(/"(?:head|revision)":\d+/g, '')

  it('reads the same on every list, event, run, history and snapshot, but for the numbers (D12, P9)', async () => {
    const all = pageOf(await call(service(), `${listPath}?pageSize=1000`, { key: keys.usual })).items
    const some = all.filter((_, index) => index % 30 === 0)
    const paths = [
      `${listPath}?pageSize=100`,
      `${listPath}?pageSize=100&page=2`,
      `${listPath}?pageSize=25&page=3&apiEventType=sales-property`,
      `${listPath}?current=true&pageSize=60&page=1`,
      `${listPath}?from=2020-01-01&pageSize=7`,
      '/v1/property-events?after=3&limit=50',
      '/v1/property-events?after=3&limit=50&wait=1',
      '/v1/property-events/snapshot',
      ...some.map(({ id }) => `/api/func/api/v1/events/geteventbyid/${id}`),
      ...some.map(({ transactionId }) => `/v1/properties/${transactionId}`),
      ...some.map(({ transactionId }) => `/v1/properties/${transactionId}/history`),
    ]
    for (const path of paths) {
      const usual = await call(service(), path, { key: keys.usual })
      assert.equal(usual.status, 200, path)
      const read = await call(service(), path, { key: keys.other })
      assert.equal(withoutHead(read.text), withoutHead(expected(usual)), path)
      const same = await call(service(), path, { key: keys.same })
      assert.equal(withoutHead(same.text), withoutHead(usual.text), path)
      const zipped = await call(service(), path, {
        key: keys.other,
        headers: { 'accept-encoding': 'gzip' },
      })
      const body = zipped.headers['content-encoding'] === 'gzip' ? gunzipSync(zipped.body) : zipped.body
      assert.equal(body.toString(), read.text, `${path}, compressed`)
    }
  })

  it('reads the same from ready-made pages, which are separate for each numbering (P9)', async () => {
    const path = `${listPath}?pageSize=100`
    const first = { usual: '', other: '' }
    for (const name of ['usual', 'other'] as const)
      first[name] = (await call(service(), path, { key: keys[name] })).text
    assert.notEqual(first.usual, first.other)
    // Sealing takes place after the first page was sent; from then on its bytes come from there.
    for (let round = 0; round < 20; round += 1) {
      for (const name of ['usual', 'other'] as const) {
        const page = await call(service(), path, { key: keys[name] })
        assert.equal(page.text, first[name])
        const zipped = await call(service(), path, {
          key: keys[name],
          headers: { 'accept-encoding': 'gzip' },
        })
        assert.equal(gunzipSync(zipped.body).toString(), first[name])
      }
    }
    const { items } = pageOf(await call(service(), path, { key: keys.other }))
    for (const item of items.slice(0, 40)) {
      const path = `/api/func/api/v1/events/geteventbyid/${item.id}`
      assert.deepEqual(JSON.parse((await call(service(), path, { key: keys.other })).text), item)
    }
  })

  it('follows a stream with its numbers, beside a key with those of the store (D12, P9)', async () => {
    for (const name of ['other', 'usual', 'other'] as const) {
      const reader = await openStream(service(), '/v1/property-events/stream?after=0', { key: keys[name] })
      await reader.until(({ numbers }) => numbers().length >= 181, 'all events')
      const told = reader.messages.filter(({ event }) => event !== 'mark')
      reader.close()
      const run = await call(service(), '/v1/property-events?limit=1000', { key: keys[name] })
      const { items } = JSON.parse(run.text) as { readonly items: readonly unknown[] }
      const events = told.map(({ data }): unknown => JSON.parse(data))
      assert.deepEqual(events, items.slice(0, told.length))
    }
  })

  it('has its own tags, so that no answer in one numbering is taken for one in the other (D4)', async () => {
    const { id = '', transactionId = '' } = receipt?.events[0] ?? {}
    const tagged = [
      `${listPath}?pageSize=10`,
      `${listPath}?pageSize=10&from=2020-01-01&to=2020-01-02`,
      `${listPath}?pageSize=10&current=true`,
      `/api/func/api/v1/events/geteventbyid/${id}`,
    ]
    for (const path of tagged) {
      const tag = async (key: string) => String((await call(service(), path, { key })).headers.etag)
      assert.notEqual(await tag(keys.usual), await tag(keys.other), path)
      assert.equal(await tag(keys.usual), await tag(keys.same), path)
      const headers = { 'if-none-match': await tag(keys.usual) }
      assert.equal((await call(service(), path, { key: keys.other, headers })).status, 200, path)
      assert.equal((await call(service(), path, { key: keys.usual, headers })).status, 304, path)
    }
    // Of the bytes alone: where no number differs, nothing does.
    const latest = `/v1/properties/${transactionId}`
    const [usual, read] = [keys.usual, keys.other].map((key) => call(service(), latest, { key }))
    const [one, two] = [await usual, await read]
    assert.equal(one?.headers.etag === two?.headers.etag, one?.text === two?.text)
  })

  it('keeps the numbers of the store in receipts, and changes nothing for contacts (D12)', async () => {
    const codes = catalogues[own].property
    for (const { eventType, eventTypeShortCode } of receipt?.events ?? []) {
      assert.equal(eventType, codes[eventTypeShortCode])
    }
    assert.equal(receipt?.events.length, 91)
    const path = '/api/func/api/v1/contactevents/getevents'
    const [usual, read] = [keys.usual, keys.other].map((key) => call(service(), path, { key }))
    assert.equal((await usual)?.headers.etag, (await read)?.headers.etag)
  })
})
