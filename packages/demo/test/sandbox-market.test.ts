import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkPropertyPayload } from '@property-events/protocol'
import type { PropertyPayload } from '@property-events/protocol'
import { sandboxChange, sandboxHomes, sandboxStart, sandboxStepOf } from '../src/sandbox.ts'

const mediaUrl = 'https://feed.example.com/pictures'
const first = sandboxStepOf(Date.UTC(2026, 10, 23, 9))

describe('the market of the sandbox', () => {
  it('is the same at the same moment on every node, and depends on nothing that was before', () => {
    for (let step = first; step < first + 200; step += 1)
      assert.deepEqual(sandboxChange(step, mediaUrl), sandboxChange(step, mediaUrl))
    assert.deepEqual(sandboxStart(first, mediaUrl), sandboxStart(first, mediaUrl))
  })

  it('has a fixed number of homes, of which prices change, and which leave and come back', () => {
    const live = new Map<string, PropertyPayload>()
    for (const body of sandboxStart(first, mediaUrl)) {
      if ('payload' in body) live.set(body.payload.agent_ref, body.payload)
    }
    assert.ok(live.size >= 25 && live.size <= 90, `${live.size} at the start`)
    const seen = new Set(live.keys())
    const went = new Set<string>()
    const counts = { prices: 0, removals: 0, returns: 0 }
    for (let step = first + 1; step < first + 2_400; step += 1) {
      const body = sandboxChange(step, mediaUrl)
      if (body === undefined) continue
      if ('remove' in body) {
        assert.ok(live.delete(body.remove.agentRef), 'only what is listed is removed')
        went.add(body.remove.agentRef)
        counts.removals += 1
        continue
      }
      const { payload } = body
      assert.deepEqual(checkPropertyPayload(payload, { publishedRequired: true }), [])
      const before = live.get(payload.agent_ref)
      if (before !== undefined && before.price_information?.price !== payload.price_information?.price)
        counts.prices += 1
      if (went.has(payload.agent_ref) && before === undefined) counts.returns += 1
      seen.add(payload.agent_ref)
      if (payload.published === true) live.set(payload.agent_ref, payload)
      else {
        live.delete(payload.agent_ref)
        went.add(payload.agent_ref)
      }
      assert.ok(live.size >= 25 && live.size <= 95, `${live.size} are listed`)
    }
    assert.ok(seen.size <= sandboxHomes)
    assert.ok(counts.prices >= 50 && counts.removals >= 100 && counts.returns >= 50, JSON.stringify(counts))
  })
})
