/** What a publisher sends again in another spelling is neither a change nor a conflict. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { call, getPath, problemOf, receiptOf } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'

onEngines('publishing what is the same by value', {}, (service) => {
  const post = (body: string, query = '') =>
    call(service(), `/v1/property-events${query}`, {
      method: 'POST',
      key: service().tenant.publishKey,
      headers: { 'content-type': 'application/json' },
      body,
    })
  /** A home as one serializer writes it, as another does, and with another price. */
  const home = () => {
    const { agent_ref } = property()
    const first = `{"agent_ref":"${agent_ref}","published":true,"price_information":{"price":450000.00},"directions":"Tŷ’r Môr – ½ mile / 🏡","update_date":"05-02-2026 09:05:03"}`
    const second = `{"update_date":"05-02-2026 09:05:03","directions":"T\\u0177\\u2019r M\\u00f4r \\u2013 \\u00BD mile \\/ \\ud83c\\udfe1","price_information":{"price":4.5e5},"published":true,"agent_ref":"${agent_ref}"}`
    return { first, second, changed: second.replace('4.5e5', '4.51e5') }
  }

  it('skips a file whose serializer has another order and other spellings, sent as objects or texts (D14)', async () => {
    const homes = Array.from({ length: 40 }, home)
    const bodyOf = (name: 'first' | 'second', from = 0) =>
      `[${homes.map((one, index) => `{"payload":${index < from ? one.changed : one[name]}}`).join()}]`
    assert.equal((await post(bodyOf('first'), '?unchanged=skip')).status, 201)
    const again = await post(bodyOf('second'), '?unchanged=skip')
    assert.equal(again.status, 200)
    assert.ok(receiptOf(again).events.every(({ unchanged }) => unchanged === true))
    const texts = homes.map(({ second }) => ({ payload: ` ${second}\n` }))
    assert.equal((await post(JSON.stringify(texts), '?unchanged=skip')).status, 200)
    const some = receiptOf(await post(bodyOf('second', 3), '?unchanged=skip'))
    assert.deepEqual(
      some.events.map(({ unchanged }) => unchanged === true),
      homes.map((_, index) => index >= 3),
    )
    assert.ok(
      receiptOf(await post(bodyOf('first', 3), '?unchanged=skip')).events.every((one) => one.unchanged),
    )
  })

  it('answers a retry in another spelling by the first result, and serves the first bytes (P6, P9, D14)', async () => {
    const { first, second, changed } = home()
    const id = randomUUID()
    const itemOf = (payload: string) => `{"category":"sales","id":"${id}","payload":${payload}}`
    const stored = receiptOf(await post(itemOf(first))).events[0]
    const again = await post(itemOf(second))
    assert.equal(again.status, 200, again.text)
    assert.deepEqual(receiptOf(again).events, [{ ...stored, repeated: true }])
    assert.equal((await post(itemOf(second), '?dryRun=true')).status, 200)
    const conflict = await post(itemOf(changed))
    assert.deepEqual([conflict.status, problemOf(conflict).code], [409, 'id_conflict'])
    assert.equal((await post(itemOf(second).replace('sales', 'lettings'))).status, 409)
    const read = await call(service(), `${getPath}/${id}`, { key: service().tenant.readKey })
    assert.equal((JSON.parse(read.text) as { readonly payload: string }).payload, first)
  })

  it('answers a removal in another spelling by the first result (D14, D26)', async () => {
    const { first } = home()
    const { agent_ref } = JSON.parse(first) as { readonly agent_ref: string }
    await post(`{"payload":${first}}`)
    const id = randomUUID()
    const one = await post(`{"id":"${id}","remove":{"agentRef":"${agent_ref}","reason":"gwerthwyd – £"}}`)
    assert.equal(one.status, 201)
    const other = `{"remove":{"reason":"gwerthwyd \\u2013 \\u00a3","agentRef":"${agent_ref}"},"id":"${id.toUpperCase()}"}`
    assert.equal((await post(other)).status, 200)
    assert.equal((await post(other.replace('gwerthwyd', 'tynnwyd'))).status, 409)
  })
})
