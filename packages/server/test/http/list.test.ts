import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { call, contactListPath, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'

onEngines('listing', { byNode: true }, (service) => {
  const list = (query = '', path = listPath) =>
    call(service(), `${path}${query}`, { key: service().tenant.readKey })
  /** The one parameter a refusal names. */
  const refusedParameter = async (query: string) => {
    const answer = await list(query)
    assert.equal(answer.status, 400, `${query} was answered ${answer.status}`)
    const problem = problemOf(answer)
    assert.equal(problem.code, 'invalid_parameter')
    const [error] = problem.errors ?? []
    assert.ok(error, `${query}: no error`)
    return error
  }

  before(async () => {
    const events = Array.from({ length: 23 }, (_, index) => ({
      payload: property({
        service_reference: `P${index}`,
        ...(index % 3 === 0 ? { price_information: { price: 900, rent_frequency: 12 } } : {}),
      }),
    }))
    await publish(service(), events.slice(0, 10))
    await publish(service(), events.slice(10))
    await publish(service(), [{ payload: contact() }, { payload: contact() }], { feed: 'contact' })
  })

  it('answers a page with exactly the fields of the spec (spec §2.1, spec §2.2, spec §4.1)', async () => {
    const answer = await list('?pageSize=2')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], 'application/json')
    const page = pageOf(answer)
    assert.deepEqual(Object.keys(page), ['items', 'page', 'pageSize', 'availableCount', 'totalPages'])
    assert.equal(page.page, 1)
    assert.equal(page.pageSize, 2)
    assert.equal(page.availableCount, 23)
    assert.equal(page.totalPages, 12)
    const [event] = page.items
    assert.ok(event)
    assert.deepEqual(Object.keys(event), [
      'tenantId',
      'sequenceNumber',
      'eventType',
      'eventTypeShortCode',
      'payload',
      'transactionId',
      'id',
      'createdDate',
    ])
    assert.equal(event.tenantId, service().tenant.tenantId)
    assert.equal(event.eventType, 2)
    assert.equal(event.eventTypeShortCode, 'PropertyPublished')
    assert.match(event.createdDate, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}$/)
    assert.equal(typeof event.payload, 'string')
    assert.equal((JSON.parse(event.payload) as { service_reference: string }).service_reference, 'P0')
  })

  it('gives 100 events a page and the first page by default (D2)', async () => {
    const page = pageOf(await list())
    assert.equal(page.page, 1)
    assert.equal(page.pageSize, 100)
    assert.equal(page.items.length, 23)
  })

  it('gives the same list at page sizes 1, 7, 100 and 1000, in ascending order, each event once (D4, P4)', async () => {
    const lists: string[] = []
    for (const pageSize of [1, 7, 100, 1000]) {
      const ids: string[] = []
      for (let page = 1; ; page += 1) {
        const { items } = pageOf(await list(`?page=${page}&pageSize=${pageSize}`))
        if (items.length === 0) break
        ids.push(...items.map(({ id, sequenceNumber }) => `${sequenceNumber} ${id}`))
      }
      assert.equal(ids.length, 23)
      lists.push(ids.join('\n'))
    }
    assert.equal(new Set(lists).size, 1)
    const numbers = (lists[0] ?? '').split('\n').map((line) => Number(line.split(' ')[0]))
    assert.deepEqual(
      numbers,
      Array.from({ length: 23 }, (_, index) => index + 1),
    )
  })

  it('answers a page past the end with no items and true totals (D3)', async () => {
    for (const query of ['?page=13&pageSize=2', '?page=999999999', '?page=999999999&pageSize=1000']) {
      const answer = await list(query)
      assert.equal(answer.status, 200)
      const page = pageOf(answer)
      assert.deepEqual(page.items, [])
      assert.equal(page.availableCount, 23)
      assert.equal(page.totalPages, Math.ceil(23 / page.pageSize))
    }
  })

  it('says 0 pages for an empty feed (D3)', async () => {
    const answer = await call(service(), listPath, { key: service().otherTenant.readKey })
    assert.equal(answer.text, '{"items":[],"page":1,"pageSize":100,"availableCount":0,"totalPages":0}')
    assert.equal(answer.headers['x-feed-head'], '0')
  })

  for (const bad of [
    '0',
    '-1',
    '-0',
    '1e309',
    'NaN',
    'Infinity',
    '0x10',
    '0b1',
    '0o7',
    '1.0',
    '1.',
    '1e2',
    '%201',
    '1%20',
    '+1',
    '%2B1',
    '01',
    '',
    'null',
    'undefined',
    'true',
    '[]',
    '{}',
    '1;page=2',
    '9007199254740993',
    '1000000000',
    '%D9%A1',
    '%EF%BC%91',
    '1%00',
    '%27%3B%20DROP%20TABLE%20events%3B--',
  ]) {
    it(`refuses page=${bad} and page size alike, naming the parameter (D2)`, async () => {
      for (const name of ['page', 'pageSize']) {
        const error = await refusedParameter(`?${name}=${bad}`)
        assert.equal(error.parameter, name)
        assert.match(error.message, /whole number from 1 to/)
      }
    })
  }

  it('names the largest page size if a larger one is requested, and never clamps (D2)', async () => {
    assert.equal((await list('?pageSize=1000')).status, 200)
    for (const size of [1001, 1_000_000]) {
      const error = await refusedParameter(`?pageSize=${size}`)
      assert.match(error.message, /1000/)
      assert.match(error.message, new RegExp(`"${size}"`))
    }
  })

  it('refuses a repeated parameter (D2)', async () => {
    for (const query of [
      '?page=1&page=2',
      '?page=1&PAGE=1',
      '?from=2025-01-01&to=2025-01-02&from=2025-01-01',
    ]) {
      assert.equal((await refusedParameter(query)).code, 'repeated')
    }
  })

  it('matches paths and parameter names without regard to case (D19)', async () => {
    const path = '/API/func/Api/V1/Events/GetEvents'
    const page = pageOf(await list('?PAGESIZE=3&Page=2&apieventtype=property', path))
    assert.equal(page.pageSize, 3)
    assert.equal(page.page, 2)
    assert.equal(page.items.length, 3)
  })

  it('ignores unknown parameters and names them in a header that is safe to show (D19)', async () => {
    const query = '?fom=2025-01-01&page%5B%5D=1&page[x]=1&%0d%0ax-evil=1&pageSize=1'
    const answer = await list(query)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['x-ignored-parameters'], 'fom, page__, page_x_, __x-evil')
    assert.equal(answer.headers['x-evil'], undefined)
    const many = await list(
      `?${Array.from({ length: 90 }, (_, index) => `u${index}${'x'.repeat(50)}=1`).join('&')}`,
    )
    assert.equal(many.status, 200)
    assert.match(String(many.headers['x-ignored-parameters']), /^u0x{38}, .*, \+80$/)
  })

  it('refuses more than 100 parameters and broken percent encoding (D19)', async () => {
    const many = `?${Array.from({ length: 200 }, (_, index) => `u${index}=1`).join('&')}`
    assert.equal((await refusedParameter(many)).code, 'too_many_parameters')
    for (const query of ['?%ZZ', '?page=%ZZ', '?page=%', '?%C3=1', '?x=%FF']) {
      assert.equal((await refusedParameter(query)).code, 'invalid_encoding')
    }
  })

  it('reads every documented spelling of apiEventType (D1)', async () => {
    const counts = async (value: string) => pageOf(await list(`?apiEventType=${value}`)).availableCount
    for (const value of [
      'property',
      'PropertyEvents',
      'PROPERTY_EVENT',
      'property%20events',
      'property-event',
    ]) {
      assert.equal(await counts(value), 23, value)
    }
    for (const value of ['salesproperty', 'SalesPropertyEvents', 'sales_property', 'Sales+Property+Event']) {
      assert.equal(await counts(value), 15, value)
    }
    assert.equal(await counts('LettingsProperty'), 8)
    const contacts = pageOf(await list('?apiEventType=ContactEvents', contactListPath))
    assert.equal(contacts.availableCount, 2)
  })

  it('refuses any other apiEventType with the allowed values, cutting what it echoes (D1)', async () => {
    for (const value of ['', 'rentals', 'contact', '__proto__', 'constructor', 'x'.repeat(6_000)]) {
      const error = await refusedParameter(`?apiEventType=${value}`)
      assert.equal(error.parameter, 'apiEventType')
      assert.match(error.message, /property, salesproperty, lettingsproperty/)
      assert.ok(error.message.length < 250)
    }
    const script = await refusedParameter('?apiEventType=%3Cscript%3Ealert(1)%3C/script%3E%1b[2J%E2%80%AE')
    for (const character of ['<', '>', '\u001b', '\u202e']) assert.ok(!script.message.includes(character))
  })

  it('splits the feed between sales and lettings, in order (D1, P4)', async () => {
    const all = pageOf(await list()).items.map(({ id }) => id)
    const sales = pageOf(await list('?apiEventType=salesproperty')).items
    const lettings = pageOf(await list('?apiEventType=lettingsproperty&pageSize=3&page=2')).items
    assert.equal(lettings.length, 3)
    const rest = pageOf(await list('?apiEventType=lettingsproperty')).items
    const merged = [...sales, ...rest].sort((left, right) => left.sequenceNumber - right.sequenceNumber)
    assert.deepEqual(
      merged.map(({ id }) => id),
      all,
    )
  })

  it('lists contacts under their own path only (D18)', async () => {
    const page = pageOf(await list('', contactListPath))
    assert.equal(page.items.length, 2)
    assert.equal(page.items[0]?.eventTypeShortCode, 'ContactCreated')
    assert.equal(page.items[0]?.eventType, 0)
  })

  it('describes the feed in headers, not in bodies (D20)', async () => {
    const { headers } = await list('?pageSize=1')
    assert.equal(headers['x-feed-head'], '23')
    assert.equal(headers['x-feed-revision'], '0')
    assert.match(String(headers['x-feed-epoch']), /^\S+$/)
    assert.match(String(headers['x-request-id']), /^[\w.-]+$/)
  })

  it('shows what was acknowledged before the request, totals and all (P8, P4)', async () => {
    const ask = async (query: string) =>
      pageOf(await call(service(), listPath + query, { key: service().tenant.readKey }))
    let { availableCount } = await ask('')
    for (let round = 0; round < 30; round += 1) {
      const { events } = await publish(service(), [{ payload: property() }])
      availableCount += 1
      const page = await ask(`?pageSize=1&page=${availableCount}`)
      assert.equal(page.availableCount, availableCount)
      assert.equal(page.items[0]?.id, events[0]?.id)
    }
  })
})
