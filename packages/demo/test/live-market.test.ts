import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkPropertyPayload } from '@property-events/protocol'
import type { PropertyPayload } from '@property-events/protocol'
import { demoMarket, lastSaleMs } from '../src/demo-data/demo-market.ts'
import { liveMarket } from '../src/demo-data/live-market.ts'
import { londonTime } from '../src/demo-data/wall-time.ts'

const startMs = Date.UTC(2024, 0, 15, 9)

describe('the live market', () => {
  it('carries on where the demo ends, dated by the clock it is given (D25)', () => {
    let nowMs = startMs
    const live = liveMarket({ untilMs: lastSaleMs, now: () => nowMs })
    const published = new Set<string>()
    for (const { feed, body } of demoMarket()) {
      if (feed !== 'property') continue
      if ('remove' in body) published.delete(body.remove.agentRef)
      else if (body.payload.published === true) published.add(body.payload.agent_ref)
      else published.delete(body.payload.agent_ref)
    }
    const left = new Set(published)
    const tenants = new Set<number>()
    const atStart = published.size
    let fewest = atStart
    let carriedOn = 0
    let begun = 0
    for (let change = 0; change < 2_000; change += 1) {
      nowMs += 5_000
      const { value } = live.next()
      assert.ok(value?.feed === 'property')
      tenants.add(value.tenant)
      if ('remove' in value.body) assert.ok(published.delete(value.body.remove.agentRef))
      else {
        const { payload } = value.body
        assert.deepEqual(checkPropertyPayload(payload, { publishedRequired: true }), [])
        assert.equal(payload.update_date, londonTime(nowMs))
        if (left.has(payload.agent_ref)) carriedOn += 1
        else if (!published.has(payload.agent_ref)) begun += 1
        if (payload.published === true) published.add(payload.agent_ref)
        else published.delete(payload.agent_ref)
      }
      fewest = Math.min(fewest, published.size)
    }
    assert.ok(fewest >= atStart * 0.9, `of ${atStart} homes on the market, ${fewest} were left at a time`)
    assert.ok(carriedOn >= 20 && begun >= 20, `${carriedOn} carried on, ${begun} begun`)
    assert.ok(tenants.size >= 2)
  })

  it('has every kind of change within its first quarter of an hour, of every agency', () => {
    const live = liveMarket({ untilMs: lastSaleMs, seed: 'first minutes', now: () => startMs })
    const earlier = new Map<string, PropertyPayload>()
    for (const { feed, body } of demoMarket({ seed: 'first minutes' }))
      if (feed === 'property' && 'payload' in body) earlier.set(body.payload.agent_ref, body.payload)
    const counts = { listed: 0, removed: 0, price: 0, photographs: 0 }
    const tenants = new Set<number>()
    for (let change = 0; change < 225; change += 1) {
      const { value } = live.next()
      assert.ok(value?.feed === 'property')
      tenants.add(value.tenant)
      if ('remove' in value.body) {
        counts.removed += 1
        continue
      }
      const { payload } = value.body
      const before = earlier.get(payload.agent_ref)
      earlier.set(payload.agent_ref, payload)
      if (before === undefined) counts.listed += 1
      else if (before.price_information?.price !== payload.price_information?.price) counts.price += 1
      else if (JSON.stringify(before.media) !== JSON.stringify(payload.media)) counts.photographs += 1
    }
    for (const [kind, count] of Object.entries(counts)) assert.ok(count >= 5, `${kind}: ${count}`)
    assert.equal(tenants.size, 3)
  })

  it('is the same for the same seed and clock', () => {
    const changes = () => {
      const live = liveMarket({ untilMs: lastSaleMs, seed: 'same', now: () => startMs })
      return Array.from({ length: 200 }, () => live.next().value)
    }
    assert.deepEqual(changes(), changes())
  })
})
