/** How many properties of an agency do not fit a duty by law now, for its keys and for operators (PROTOCOL §4.13). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import type { DutyLists } from '@property-events/protocol/wire'
import { countDuties } from '../../src/publishing/duties/count-duties.ts'
import type { CountedDuties, DutiesCursor } from '../../src/publishing/duties/count-duties.ts'
import { postErasure } from '../support/canary.ts'
import { call } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { until } from '../support/until.ts'

const path = '/v1/property-events/duties'
const [noon, began] = [Date.parse('2026-11-01T12:00:00Z'), performance.now()]
let shiftMs = 0
/** Goes on, since the allowance of a key comes back with time. */
const clock = () => Math.floor(noon + performance.now() - began + shiftMs)

onEngines('properties that do not fit a duty by law', { clock }, (service) => {
  const send = (key: string, at: string, body: unknown, method = 'POST') =>
    call(service(), at, {
      key,
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const publish = async (events: readonly unknown[], key = service().tenant.publishKey) => {
    const answer = await send(key, '/v1/property-events', events)
    assert.equal(answer.status, 201, answer.text)
  }
  /** A letting of a branch with an unlawful term, unless `fields` say otherwise; what is stated of it is not complete. */
  const letting = (fields: object = {}) =>
    property({
      price_information: { price: 1200, rent_frequency: 12, deposit: 1300 },
      details: { summary: 'Fflat â golygfa – £1,200 y mis 🏠', bedrooms: 2 },
      minimum_term: 6,
      ...fields,
    })
  const listOf = (answer: Answer): DutyLists => {
    assert.equal(answer.status, 200, answer.text)
    return JSON.parse(answer.text)
  }
  const listed = async (key = service().tenant.publishKey) => listOf(await call(service(), path, { key }))
  const countOf = ({ items }: Pick<DutyLists, 'items'>, duty: string) =>
    items.find(({ code }) => code === duty)?.properties
  const refsOf = ({ items }: DutyLists, duty: string) =>
    items.find(({ code }) => code === duty)?.refs.toSorted()
  /** A tenant of its own, so that tests count nothing of each other. */
  const newTenant = async () => {
    const tenantId = randomUUID()
    await service().storage.tenants.createTenant(
      { tenantId, name: `Tai Menai ${tenantId}`, createdMs: noon, suspended: false },
      'service',
    )
    const issue = async (scopes: readonly string[], branches?: readonly string[]) => {
      const grant = { tenantId, scopes, ...(branches === undefined ? {} : { branches }) }
      return (await service().issue({ grants: [JSON.parse(JSON.stringify(grant))] })).text
    }
    return { tenantId, issue, publishKey: await issue(['property:publish']) }
  }

  it('are counted and named by duty as long as they are shown, and no longer once mended, removed or erased (PROTOCOL §4.13)', async () => {
    const { publishKey, issue } = await newTenant()
    const eraseKey = await issue(['property:erase'])
    const [term, over, gone, erased, hidden] = [
      letting(),
      letting({
        price_information: { price: 1200, rent_frequency: 12, price_qualifier: 10 },
        minimum_term: 0,
      }),
      letting(),
      letting(),
      letting({ published: false }),
    ]
    const sale = property()
    await publish(
      [term, over, gone, erased, hidden, sale].map((payload) => ({ payload })),
      publishKey,
    )
    const first = await listed(publishKey)
    assert.deepEqual([first.advised, first.properties, first.next], [true, 5, null])
    assert.deepEqual(
      refsOf(first, 'fixed_term_advertised'),
      [term, gone, erased].map((one) => one.agent_ref).toSorted(),
    )
    assert.deepEqual(refsOf(first, 'rent_not_specific'), [over.agent_ref])
    assert.equal(countOf(first, 'material_information'), 5)
    assert.match(first.items[0]?.source ?? '', /Renters' Rights Act 2025/)

    await publish(
      [{ payload: { ...term, minimum_term: 0 } }, { remove: { agentRef: gone.agent_ref, reason: 8 } }],
      publishKey,
    )
    const erasure = { feed: 'property', subjectId: erased.agent_ref, reason: 'data_subject_request' }
    assert.equal((await postErasure(service(), erasure, '', eraseKey)).status, 202)
    await until(async () => (await listed(publishKey)).properties === 3, { what: 'the erased one is gone' })
    const second = await listed(publishKey)
    assert.equal(countOf(second, 'fixed_term_advertised'), 0)
    assert.deepEqual(refsOf(second, 'rent_not_specific'), [over.agent_ref])
    assert.equal(countOf(second, 'material_information'), 3)
  })

  it('are none of those that no duty is in force for yet (PROTOCOL §4.13)', async () => {
    const { tenantId, publishKey } = await newTenant()
    await publish([{ payload: letting() }], publishKey)
    const query = { key: { tenantId, feed: 'property' } as const, branches: undefined, from: undefined }
    const countAt = async (nowMs: number) => {
      const { counts } = await countDuties(service().storage.events, { ...query, nowMs }, () => 0)
      return counts.flatMap(({ duty, properties }) => (properties > 0 ? [duty.code] : []))
    }
    const inForce = Date.parse('2026-05-01T00:00:00+01:00')
    assert.deepEqual(await countAt(inForce - 1), ['material_information'])
    assert.deepEqual(await countAt(inForce), ['fixed_term_advertised', 'material_information'])
  })

  it('are those of a key’s tenant and branches alone, where the property is now; any key that reads or publishes properties may ask (D11)', async () => {
    const { publishKey, issue } = await newTenant()
    const [ely = letting(), wells = letting(), moved = letting()] = ['ely', 'wells', 'ely'].map((branch) =>
      letting({ branch_id: branch }),
    )
    await publish(
      [ely, wells, moved, letting()].map((payload) => ({ payload })),
      publishKey,
    )
    await publish([{ payload: { ...moved, branch_id: 'wells' } }], publishKey)
    const counted = async (key: string) => refsOf(await listed(key), 'fixed_term_advertised')
    assert.equal((await counted(publishKey))?.length, 4)
    assert.equal((await counted(await issue(['property:read'])))?.length, 4)
    assert.deepEqual(await counted(await issue(['property:publish'], ['ely'])), [ely.agent_ref])
    assert.deepEqual(await counted(await issue(['property:publish'], ['elsewhere'])), [])
    const reader = await issue(['property:read'], ['wells'])
    const shown = [wells, moved].map((one) => one.agent_ref).toSorted()
    await until(async () => (await call(service(), path, { key: reader })).status === 200, {
      what: 'the view',
    })
    assert.deepEqual(await counted(reader), shown)
    assert.equal(
      (await call(service(), path, { key: await issue(['contact:read', 'property:erase']) })).status,
      403,
    )
    assert.equal((await call(service(), path)).status, 401)
  })

  it('are counts without references for an operator, of one tenant; a tenant’s own key sees no other (D11)', async () => {
    const { tenantId, publishKey, issue } = await newTenant()
    await publish([{ payload: letting() }], publishKey)
    const { text: operator } = await service().issue({
      operator: true,
      adminScopes: ['admin:inspect', 'admin:manage'],
    })
    const at = `/v1/admin/tenants/${tenantId}/duties`
    const answer = await call(service(), at, { key: operator })
    assert.equal(countOf(listOf(answer), 'fixed_term_advertised'), 1)
    assert(!answer.text.includes('refs'))
    assert.equal(listOf(await call(service(), at, { key: await issue(['tenant:inspect']) })).properties, 1)
    const { text: stranger } = await service().issue({
      grants: [{ tenantId: service().otherTenant.tenantId, scopes: ['tenant:inspect', 'property:publish'] }],
    })
    assert.equal((await call(service(), at, { key: stranger })).status, 404)

    assert.equal(
      (await send(operator, `/v1/admin/tenants/${tenantId}`, { duties: false }, 'PATCH')).status,
      200,
    )
    shiftMs += 2000
    const off = { advised: false, items: [], properties: 0, next: null }
    assert.deepEqual(await listed(publishKey), off)
    assert.deepEqual(listOf(await call(service(), at, { key: operator })), off)
  })

  it('are counted in steps that together are the whole, with the first hundred of each duty named by a step (PROTOCOL §4.13)', async () => {
    const { tenantId, publishKey } = await newTenant()
    await publish(
      [...Array(110).keys()].map(() => ({ payload: letting() })),
      publishKey,
    )
    await publish(
      [...Array(15).keys()].map(() => ({ payload: property() })),
      publishKey,
    )
    const whole = await listed(publishKey)
    assert.deepEqual(
      [countOf(whole, 'fixed_term_advertised'), countOf(whole, 'material_information')],
      [110, 125],
    )
    assert.equal(refsOf(whole, 'fixed_term_advertised')?.length, 100)
    const query = { key: { tenantId, feed: 'property' } as const, branches: undefined, nowMs: noon }
    const counted: CountedDuties[] = []
    for (let from: DutiesCursor | undefined; ;) {
      const step = await countDuties(service().storage.events, { ...query, from }, () => 0, {
        properties: 10,
        ms: 1,
      })
      counted.push(step)
      from = step.next
      if (from === undefined) break
    }
    assert(counted.length > 2, `${counted.length} steps`)
    const sumOf = (code: string) =>
      counted
        .flatMap(({ counts }) => counts.filter(({ duty }) => duty.code === code))
        .reduce((sum, one) => sum + one.properties, 0)
    assert.deepEqual([sumOf('fixed_term_advertised'), sumOf('material_information')], [110, 125])
    const from = counted[0]?.next
    const next = listOf(
      await call(service(), `${path}?after=${from?.category}.${from?.after}`, { key: publishKey }),
    )
    assert.equal(next.properties, 125 - (counted[0]?.properties ?? 0))
    const wrong = await call(service(), `${path}?after=4711`, { key: publishKey })
    assert.equal(wrong.status, 400)
    assert.match(wrong.text, /not_a_place/)
  })
})
