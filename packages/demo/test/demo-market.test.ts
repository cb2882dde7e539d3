import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  adviseContact,
  adviseProperty,
  checkContactPayload,
  checkPropertyPayload,
  type ContactPayload,
  parseCreatedDate,
  type PropertyPayload,
} from '@property-events/protocol'
import { uuidV5 } from '@property-events/server/plain'
import { demoMarket, lastSaleMs } from '../src/demo-data/demo-market.ts'
import { marketData } from '../src/demo-data/load-data.ts'
import type { MarketEvent } from '../src/demo-data/market-event.ts'
import { photographAt } from '../src/photographs.ts'
import { marketTenants } from '../src/demo-data/tenants.ts'

const events = [...demoMarket()]

function properties(): { readonly event: MarketEvent; readonly payload: PropertyPayload }[] {
  return events.flatMap((event) =>
    event.feed === 'property' && 'payload' in event.body ? [{ event, payload: event.body.payload }] : [],
  )
}

function contacts(): ContactPayload[] {
  return events.flatMap((event) => (event.feed === 'contact' ? [event.body.payload] : []))
}

function isLetting(payload: PropertyPayload): boolean {
  return typeof payload.price_information?.rent_frequency === 'number'
}

describe('the demo market', () => {
  it('is the same every time for one seed, and another for another', () => {
    assert.deepEqual([...demoMarket()], events)
    const other = [...demoMarket({ seed: 'other' })]
    assert.notDeepEqual(other.slice(0, 20), events.slice(0, 20))
  })

  it('has about 6,500 events: of each tenant at least 1,000 of properties for sale and to let, and 50 of contacts', () => {
    assert.ok(events.length > 5_500 && events.length < 7_500, `${events.length} events`)
    for (const tenant of marketTenants.keys()) {
      const own = events.filter((event) => event.tenant === tenant)
      assert.ok(own.filter(({ feed }) => feed === 'property').length >= 1_000)
      assert.ok(own.filter(({ feed }) => feed === 'contact').length >= 50)
      const shown = properties().filter(({ event }) => event.tenant === tenant)
      assert.ok(shown.filter(({ payload }) => isLetting(payload)).length >= 200)
      assert.ok(shown.filter(({ payload }) => !isLetting(payload)).length >= 200)
    }
  })

  it('wishes for times that rise strictly, in the form of createdDate, up to the given moment (D25)', () => {
    const times = events.map(({ at }) => at)
    assert.ok(times.every((at) => parseCreatedDate(at) !== undefined))
    assert.ok(times.every((at, index) => index === 0 || at > (times[index - 1] ?? '')))
    const last = times.at(-1) ?? ''
    assert.ok(last <= new Date(lastSaleMs).toISOString() && last > '2022-12-28')
    for (const untilMs of [Date.UTC(2021, 5, 30, 12), Date.UTC(2026, 10, 23, 1, 12), Date.UTC(2031, 0, 1)]) {
      const moved = [...demoMarket({ untilMs })]
      const end = moved.at(-1)?.at ?? ''
      assert.ok(end <= new Date(untilMs).toISOString(), `${end} is not after the given moment`)
      assert.ok(end > new Date(untilMs - 4 * 86_400_000).toISOString(), `${end} is near the given moment`)
      assert.ok(moved.every(({ at }, index) => index === 0 || at > (moved[index - 1]?.at ?? '')))
    }
  })

  it('has some hundred homes on the market of the first agency, for sale and to let', () => {
    const live = new Map<string, PropertyPayload>()
    for (const { tenant, feed, body } of demoMarket({ untilMs: Date.UTC(2026, 10, 23, 1, 12) })) {
      if (tenant !== 0 || feed !== 'property') continue
      if ('remove' in body) live.delete(body.remove.agentRef)
      else if (body.payload.published === true) live.set(body.payload.agent_ref, body.payload)
      else live.delete(body.payload.agent_ref)
    }
    const lettings = [...live.values()].filter(isLetting).length
    assert.ok(live.size >= 300 && live.size <= 500, `${live.size} homes`)
    assert.ok(lettings >= 60 && live.size - lettings >= 150, `${lettings} to let`)
  })

  it('has photographs at the address it is given, each of them there', () => {
    const mediaUrl = 'http://127.0.0.1:8080/pictures'
    let photographs = 0
    for (const { feed, body } of demoMarket({ mediaUrl })) {
      if (feed !== 'property' || !('payload' in body)) continue
      for (const item of body.payload.media ?? []) {
        const path = String(item?.media_url).slice(mediaUrl.length + 1)
        const [form = '', reference = '', name = ''] = path.split('/')
        assert.ok(item?.media_url?.startsWith(`${mediaUrl}/`))
        assert.match(path, /^(?:house|terrace|bungalow|flats)\/[A-Z0-9]+\/\d\d-[a-z-]+-[0-9a-f]{8}\.webp$/)
        if (photographs < 200) assert.notEqual(photographAt(form, reference, name), undefined, path)
        photographs += 1
      }
    }
    assert.ok(photographs > 10_000, `${photographs} photographs`)
  })

  it('publishes payloads that the contract and the advice have nothing to say about (spec §2.3, D18)', () => {
    for (const { payload } of properties()) {
      assert.deepEqual(checkPropertyPayload(payload, { publishedRequired: true }), [])
      assert.deepEqual(adviseProperty(payload, isLetting(payload) ? 'lettings' : 'sales'), [])
    }
    for (const payload of contacts()) {
      assert.deepEqual(checkContactPayload(payload), [])
      assert.deepEqual(adviseContact(payload), [])
    }
  })

  it('has property payloads of 2,000 to 6,500 bytes', () => {
    const sizes = properties().map(({ payload }) => Buffer.byteLength(JSON.stringify(payload)))
    assert.ok(Math.min(...sizes) >= 2_000 && Math.max(...sizes) <= 6_500)
    const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length
    assert.ok(mean > 3_000 && mean < 6_000, `mean ${mean}`)
  })

  it('shows every oddity that consumers must bear (spec §2.4, §2.6)', () => {
    const payloads = properties().map(({ payload }) => payload)
    const some = (name: string, found: (payload: PropertyPayload) => boolean) =>
      assert.ok(payloads.some(found) && !payloads.every(found), name)
    some('obligations as []', ({ details }) => Array.isArray(details?.obligations))
    some('repeated accessibility codes', ({ details }) => {
      const codes = details?.accessibility ?? []
      return new Set(codes).size < codes.length
    })
    some('no accessibility codes', ({ details }) => details?.accessibility?.length === 0)
    some('null in broadband', ({ details }) => details?.broadband?.includes(null) === true)
    some('null in sources of flooding', ({ risks }) => risks?.sources_of_flooding?.includes(null) === true)
    some('flood data in details', ({ details }) => typeof details?.flood_defences === 'boolean')
    some('empty address_3', ({ address }) => address?.address_3 === '')
    some('null in epc', ({ details }) => details?.epc_information?.epc_certificate_id === null)
    some('epc all null', ({ details }) => details?.epc_information?.current_energy_rating === null)
    some('create_date null', ({ create_date }) => create_date === null)
    some('no directions', ({ directions }) => directions === undefined)
    some('no features', ({ details }) => details?.features?.length === 0)
    some('deposit', ({ price_information }) => typeof price_information?.deposit === 'number')
    some('unpublished by payload', ({ published }) => published === false)
  })

  it('removes a home only while it is published, and gives each kind of reason (D26)', () => {
    const published = new Set<string>()
    const reasons = new Set<number>()
    for (const { feed, body } of events) {
      if (feed !== 'property') continue
      if ('payload' in body) {
        const { agent_ref: agentRef, published: visible } = body.payload
        if (visible === true) published.add(agentRef)
        else assert.ok(published.delete(agentRef), `${agentRef} is unpublished before it is published`)
      } else {
        assert.ok(published.delete(body.remove.agentRef), `${body.remove.agentRef} is removed twice`)
        reasons.add(body.remove.reason)
      }
    }
    assert.deepEqual(
      [...reasons].toSorted((one, other) => one - other),
      [7, 8, 9, 10, 12],
    )
    assert.ok(published.size >= 50, 'homes are on the market in the end')
  })

  it('tells of offers, sales, fallen through sales, reductions, lets and moves between branches', () => {
    const seen = new Set<string>()
    const latest = new Map<string, PropertyPayload>()
    const removed = new Map<string, number>()
    for (const { feed, body } of events) {
      if (feed !== 'property') continue
      if ('remove' in body) {
        const { agentRef, reason } = body.remove
        if (reason === 7 && removed.get(agentRef) === 7) seen.add('sold again')
        removed.set(agentRef, reason)
        continue
      }
      const { payload } = body
      const before = latest.get(payload.agent_ref)
      latest.set(payload.agent_ref, payload)
      if (before === undefined) continue
      seen.add(`${before.status} to ${payload.status}`)
      if ((payload.price_information?.price ?? 0) < (before.price_information?.price ?? 0))
        seen.add('reduced')
      if (payload.branch_id !== before.branch_id) seen.add('moved')
      if (isLetting(payload) && removed.get(payload.agent_ref) === 12) seen.add('let again')
    }
    for (const turn of [
      '1 to 4',
      '4 to 2',
      '2 to 1',
      '1 to 6',
      'reduced',
      'moved',
      'sold again',
      'let again',
    ]) {
      assert.ok(seen.has(turn), turn)
    }
  })

  it('asks 1.0 to 1.08 times what was really paid, to the rounding, and lists before the day of the deed', () => {
    const dayMs = 86_400_000
    const sales = new Map(
      marketTenants.flatMap(({ tenantId, area }) =>
        marketData()
          .homes.filter((home) => home.area === area)
          .map((home) => [uuidV5(tenantId, `sales/${home.key}`), home.sales] as const),
      ),
    )
    const shown = new Map<string, { readonly at: string; readonly price: number }[]>()
    let sold = 0
    for (const { feed, body, at } of events) {
      if (feed !== 'property') continue
      if ('payload' in body) {
        const price = body.payload.price_information?.price ?? 0
        const before = shown.get(body.payload.agent_ref) ?? []
        shown.set(body.payload.agent_ref, body.payload.published === true ? [...before, { at, price }] : [])
        continue
      }
      const { agentRef, reason } = body.remove
      const asked = shown.get(agentRef) ?? []
      shown.delete(agentRef)
      if (reason !== 7) continue
      sold += 1
      const removedMs = Date.parse(`${at.slice(0, 10)}T00:00:00Z`)
      // What is due on a Sunday is done on the Monday after.
      const sale = sales
        .get(agentRef)
        ?.find(({ deedMs }) => removedMs - deedMs >= 0 && removedMs - deedMs <= dayMs)
      assert.ok(sale, `${agentRef} is removed as sold on ${at}, when it was not`)
      const deedDay = new Date(sale.deedMs).toISOString().slice(0, 10)
      assert.ok(asked.length >= 3 && asked.every((one) => one.at < deedDay))
      for (const { price } of asked) {
        const ratio: number = price / sale.pricePaid
        assert.ok(ratio > 0.985 && ratio < 1.095, `asked ${price}, paid ${sale.pricePaid}`)
      }
    }
    assert.ok(sold >= 200, `${sold} sold`)
  })

  it('invents every address, telephone number and e-mail address', () => {
    const { centres } = marketData()
    const addresses = [
      ...properties().map(({ payload }) => payload.address),
      ...contacts().map(({ address }) => address),
    ]
    for (const address of addresses) {
      assert.match(address?.postcode_2 ?? '', /^\d[CIKMOV]{2}$/)
      assert.ok(centres.has(address?.postcode_1 ?? ''))
    }
    for (const way of contacts().flatMap(({ communications }) => communications ?? [])) {
      if (way?.channel === 'email') assert.match(way.value ?? '', /^[a-z0-9._]+@example\.com$/)
      if (way?.channel === 'mobile') assert.match(way.value ?? '', /^07700 900\d{3}$/)
    }
    for (const { payload } of properties()) {
      for (const item of payload.media ?? [])
        assert.match(item?.media_url ?? '', /^https:\/\/media\.example\.com\//)
    }
  })

  it("names branches of the event's own tenant", () => {
    for (const { tenant, feed, body } of events) {
      if (feed === 'contact' || 'payload' in body) {
        const branchId = 'payload' in body ? body.payload.branch_id : undefined
        assert.ok(marketTenants[tenant]?.branches.some((branch) => branch.branchId === branchId))
      }
    }
  })
})
