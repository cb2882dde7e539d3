/** What receipts say of duties by law: when an event is stored, when it is tried, and in the list of what was published (PROTOCOL §4.11). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { call, receiptOf } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'

function jsonOf(answer: { readonly text: string }): Readonly<Record<string, unknown>> {
  return JSON.parse(answer.text)
}

const inForce = Date.parse('2026-05-01T00:00:00+01:00')
let nowMs = inForce

onEngines('duties by law', { clock: () => nowMs }, (service) => {
  const post = (events: unknown, query = '') =>
    call(service(), `/v1/property-events${query}`, {
      key: service().tenant.publishKey,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(events),
    })
  /** As said by a dry run and then by the request itself: the same. Nothing is refused. */
  const warned = async (events: unknown, atMs = inForce) => {
    nowMs = atMs
    const dry = await post(events, '?dryRun=true')
    const stored = await post(events)
    assert.deepEqual([dry.status, stored.status], [200, 201], stored.text)
    const { warnings } = receiptOf(stored)
    assert.deepEqual(receiptOf(dry).warnings, warnings)
    return warnings
  }
  const codesOf = (warnings: Awaited<ReturnType<typeof warned>>) =>
    warnings.map(({ index, pointer, code }) => `${index} ${pointer} ${code}`)
  const unlawful = (fields: object = {}) =>
    property({
      price_information: { price: 1200, rent_frequency: 12, deposit: 1300, price_qualifier: 10 },
      details: { summary: 'Fflat â golygfa – £1,200 y mis 🏠. No pets or DSS.', bedrooms: 2 },
      minimum_term: 6,
      ...fields,
    })
  const lettings = [
    '0 /price_information/price_qualifier rent_not_specific',
    '0 /minimum_term fixed_term_advertised',
    '0 /details/summary tenant_excluded',
  ]
  const material = '0 /details/council_tax_band material_information'

  it('are in the receipt with the law and the places, from the day on which they are in force (PROTOCOL §4.11)', async () => {
    assert.deepEqual(codesOf(await warned({ payload: unlawful() }, inForce - 1)), [material])
    const warnings = await warned({ payload: unlawful() })
    assert.deepEqual(codesOf(warnings), [...lettings, material])
    const excluded = warnings.find(({ code }) => code === 'tenant_excluded')
    assert.match(excluded?.message ?? '', /says "No pets or DSS".*Renters' Rights Act 2025.*1 May 2026/)
    const stated = warnings.find(({ code }) => code === 'material_information')
    assert.deepEqual(stated?.pointers?.slice(0, 2), [
      '/details/council_tax_band',
      '/details/epc_information/current_energy_rating',
    ])
  })

  it('depend on nation and category, and on whether the property is shown (PROTOCOL §4.11)', async () => {
    const scottish = { postcode_1: 'EH1', postcode_2: '1AA' }
    assert.deepEqual(codesOf(await warned({ payload: unlawful({ address: scottish }) })), [material])
    const border = await warned({ payload: unlawful({ address: { postcode_1: 'CH4' } }) })
    assert.match(border[0]?.message ?? '', /^If it is in England: /)
    const sale = property({ price_information: { price: 450_000, price_qualifier: 1, tenure_type: 1 } })
    assert.deepEqual(codesOf(await warned({ payload: sale })), [material])
    assert.deepEqual(codesOf(await warned({ payload: unlawful({ published: false }) })), [])
    assert.deepEqual(codesOf(await warned({ payload: unlawful(), eventType: 'PropertyUnpublished' })), [
      '0 /published event_type_contradicts_payload',
    ])
    const unsaid = property({ price_information: { price: 1200, price_qualifier: 1 } })
    assert.deepEqual(
      codesOf(await warned({ payload: unsaid, category: 'lettings' })).slice(0, 2),
      ['rent_frequency', 'price_qualifier'].map(
        (member) => `0 /price_information/${member} rent_not_specific`,
      ),
    )
  })

  it('are not said to a tenant for which an operator has switched them off, after two seconds; to others they are (PROTOCOL §12.2)', async () => {
    const { tenant, otherTenant } = service()
    const admin = (key: string, method: string, path: string, body?: unknown) =>
      call(service(), `/v1/admin${path}`, {
        key,
        method,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const { text: operator } = await service().issue({
      operator: true,
      adminScopes: ['admin:manage', 'admin:inspect', 'admin:audit'],
    })
    const { text: own } = await service().issue({
      grants: [{ tenantId: tenant.tenantId, scopes: ['tenant:manage', 'tenant:inspect'] }],
    })
    const path = `/tenants/${tenant.tenantId}`
    const codes = async (key: string) => {
      const body = JSON.stringify({ payload: unlawful() })
      const headers = { 'content-type': 'application/json' }
      const query = '/v1/property-events?dryRun=true'
      return receiptOf(await call(service(), query, { key, method: 'POST', headers, body })).warnings.length
    }
    assert.equal((await admin(own, 'PATCH', path, { duties: false })).status, 403)
    const wrong = await admin(operator, 'PATCH', path, { duties: 'off' })
    assert.deepEqual(
      [wrong.status, jsonOf(wrong)['errors']],
      [400, [{ pointer: '/duties', code: 'not_allowed', message: 'duties must be true or false.' }]],
    )
    assert.equal(await codes(tenant.publishKey), 4)
    const off = await admin(operator, 'PATCH', path, { duties: false })
    assert.deepEqual([off.status, jsonOf(off)['duties']], [200, false])
    nowMs += 2000
    assert.equal(await codes(tenant.publishKey), 0)
    assert.equal(await codes(otherTenant.publishKey), 4)
    assert.match((await admin(operator, 'GET', '/audit')).text, /"tenant\.duties_set".*"advised":false/)
    assert.equal((await admin(operator, 'PATCH', path, { duties: true })).status, 200)
    nowMs += 2000
    assert.equal(await codes(tenant.publishKey), 4)
  })

  it('give way to other warnings, where what is not stated would fill the receipt (PROTOCOL §8)', async () => {
    const payload = unlawful({ status: 99 })
    const events = Array.from({ length: 90 }, () => ({ payload: property() }))
    const warnings = await warned([...events, { payload }, { payload }, { payload }])
    assert.equal(warnings.length, 100)
    assert.equal(warnings.filter(({ code }) => code === 'unknown_code').length, 3)
    assert.equal(warnings.filter(({ code }) => code === 'tenant_excluded').length, 3)
  })
})
