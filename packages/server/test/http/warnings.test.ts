/** What receipts say of events that known consumers fall over, when they are stored and when they are tried (PROTOCOL §4.11). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { call, problemOf, receiptOf } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'

/** Without what these short adverts do not state (duties.test.ts). */
const others = <Warning extends { readonly code: string }>(warnings: readonly Warning[]) =>
  warnings.filter(({ code }) => code !== 'material_information')

onEngines('warnings', {}, (service) => {
  const post = (events: unknown, query = '', path = '/v1/property-events') =>
    call(service(), `${path}${query}`, {
      key: service().tenant.publishKey,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(events),
    })
  /** As said by a dry run, which stores nothing, and then by the request itself: the same. */
  const warned = async (events: unknown, path?: string) => {
    const dry = await post(events, '?dryRun=true', path)
    const stored = await post(events, '', path)
    assert.equal(stored.status, 201, stored.text)
    const { warnings } = receiptOf(stored)
    assert.deepEqual(receiptOf(dry).warnings, warnings)
    for (const { message } of warnings) assert.match(message, /^\S.*\.$/)
    return others(warnings).map(({ index, pointer, code }) => `${index} ${pointer} ${code}`)
  }
  const monday = '05-01-2026 09:00:00'

  it('are none for a property with a price and a photograph, nor for a removed one (PROTOCOL §4.11)', async () => {
    const payload = property({ update_date: monday })
    const { agent_ref } = payload
    assert.deepEqual(await warned({ payload }), [])
    assert.deepEqual(await warned({ payload: { ...payload, published: false, price_information: null } }), [])
    assert.deepEqual(await warned({ remove: { agentRef: agent_ref } }), [])
  })

  it('report a transactionId that is not the UUID of the property, or spells it differently than before (D15)', async () => {
    const payload = property()
    const { agent_ref } = payload
    const differs = ['0 /transactionId transaction_id_differs']
    assert.deepEqual(await warned({ payload, transactionId: agent_ref }), [])
    assert.deepEqual(await warned({ payload, transactionId: agent_ref.toUpperCase() }), differs)
    assert.deepEqual(await warned({ payload, transactionId: randomUUID() }), differs)
    assert.deepEqual(await warned({ remove: { agentRef: agent_ref }, transactionId: randomUUID() }), differs)
    const upper = { ...payload, agent_ref: randomUUID().toUpperCase() }
    assert.deepEqual(await warned({ payload: upper, transactionId: upper.agent_ref.toLowerCase() }), [])
  })

  it('report a published property without a price or a photograph, by its payload or by its type (PROTOCOL §4.11)', async () => {
    const bare = property({ price_information: undefined, media: [] })
    const both = ['0 /price_information/price missing_price', '0 /media no_photographs']
    assert.deepEqual(await warned({ payload: bare }), both)
    assert.deepEqual(await warned({ payload: { ...bare, published: false } }), [])
    const { published: _, ...silent } = bare
    assert.deepEqual(await warned({ payload: silent, eventType: 'PropertyPublished' }), both)
    assert.deepEqual(await warned({ payload: silent, eventType: 'PropertyUnpublished' }), [])
  })

  it('report an update_date that stays when the property changes or comes back, within one request too (PROTOCOL §4.11)', async () => {
    const payload = property({ update_date: monday })
    const remove = { agentRef: payload.agent_ref }
    const at = (index: number) => `${index} /update_date update_date_unchanged`
    const changed = { ...payload, price_information: { price: 2 } }
    assert.deepEqual(await warned([{ payload }, { payload }, { payload: changed }]), [at(2)])
    assert.deepEqual(await warned({ payload: changed }), [])
    assert.deepEqual(await warned([{ remove }, { payload: changed }]), [at(1)])
    assert.deepEqual(await warned({ payload: { ...payload, update_date: '06-01-2026 09:00:00' } }), [])
    assert.deepEqual(await warned({ payload: { ...changed, update_date: '06-01-2026 09:00:00' } }), [at(0)])
    assert.deepEqual(await warned({ payload: { ...payload, update_date: null } }), [])
    assert.deepEqual(await warned({ payload: { ...changed, update_date: undefined } }), [])
  })

  it('ignore the update_date of skipped or repeated events (PROTOCOL §4.6)', async () => {
    const payload = property({ update_date: monday })
    const changed = { id: randomUUID(), payload: { ...payload, price_information: { price: 2 } } }
    await post([{ payload }, changed])
    const skipped = receiptOf(await post({ payload: changed.payload }, '?unchanged=skip'))
    assert.deepEqual([skipped.events[0]?.unchanged, others(skipped.warnings)], [true, []])
    const repeated = receiptOf(await post(changed))
    assert.deepEqual([repeated.repeated, others(repeated.warnings)], [true, []])
  })

  it("name fields that are misspelled, and count the publisher's own (PROTOCOL §4.11)", async () => {
    const payload = property({ adress: { town: 'Ely' }, price_infomation: { price: 1 } })
    const details = { bedroms: 3, summary: 'A house.', vendor_mood: 'good' }
    assert.deepEqual(
      await warned([{ payload: property() }, { payload: { ...payload, details, crm_stage: 1 } }]),
      [
        '1 /details/bedroms unknown_field',
        '1 /adress unknown_field',
        '1 /price_infomation unknown_field',
        '1  unknown_fields',
      ],
    )
    const own = { payload: property({ crm_stage: 1, crm_owner: 'x' }) }
    const { warnings } = receiptOf(await post([{ payload: property() }, own, own, own]))
    assert.deepEqual(
      others(warnings).map(({ index, code, message }) => [index, code, message]),
      [
        [
          1,
          'unknown_fields',
          '6 fields are not known to the contract, in 3 events: kept and passed on as sent.',
        ],
      ],
    )
    assert.doesNotMatch(JSON.stringify(warnings), /crm/)
  })

  it('of contacts name no values (D18)', async () => {
    const payload = { ...contact(), forename: undefined, surname: undefined, frist_name: 'Quillon' }
    const path = '/v1/contact-events'
    assert.deepEqual(await warned({ payload, transactionId: randomUUID() }, path), [
      '0 /transactionId transaction_id_differs',
      '0 /frist_name unknown_field',
    ])
    const { warnings } = receiptOf(await post({ payload, transactionId: randomUUID() }, '', path))
    assert.doesNotMatch(JSON.stringify(warnings), /Quillon/)
  })

  it('are the first 100 of a request in the order of its events, those from the store among them (PROTOCOL §8)', async () => {
    const payload = property({ update_date: monday, status: 99 })
    const events = Array.from({ length: 80 }, (_, index) => ({
      payload: { ...payload, price_information: { price: index + 1 } },
    }))
    const warnings = await warned(events)
    assert.equal(warnings.length, 100)
    assert.deepEqual(warnings.slice(0, 5), [
      '0 /status unknown_code',
      '1 /status unknown_code',
      '1 /update_date update_date_unchanged',
      '2 /status unknown_code',
      '2 /update_date update_date_unchanged',
    ])
    assert.equal(problemOf(await post({ payload: { ...payload, agent_ref: 'x' } })).code, 'invalid_body')
  })
})
