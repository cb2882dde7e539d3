import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { demoMarket } from '../src/demo-data/demo-market.ts'
import { siteResult } from '../src/consumers.ts'

const agentRef = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'

function said(payload: object) {
  return siteResult({ sequenceNumber: 7, payload: JSON.stringify({ agent_ref: agentRef, ...payload }) })
}
const media = Array.from({ length: 5 }, () => ({ media_url: 'https://media.example.com/1.png' }))

describe('what a site of the demo says of a listing', () => {
  it('is where it stands, or why it does not stand there (PROTOCOL §14.5)', () => {
    assert.deepEqual(said({ published: true, media }), {
      agentRef,
      sequenceNumber: 7,
      outcome: 'live',
      url: `https://www.example.com/homes/${agentRef}`,
    })
    assert.equal(said({ published: true, media: media.slice(1) })?.code, 'too_few_photographs')
    const details = { epc_information: { current_energy_rating: null } }
    assert.deepEqual(said({ published: true, media, details })?.outcome, 'held')
    assert.deepEqual(said({ published: false }), { agentRef, sequenceNumber: 7, outcome: 'live' })
    assert.equal(siteResult({ sequenceNumber: 7, payload: '{}' }), undefined)
  })

  it('is each of the three of some listings of the market, and mostly that they are live', () => {
    const counts = new Map<string, number>()
    for (const { feed, body } of demoMarket()) {
      if (feed !== 'property' || !('payload' in body)) continue
      const { outcome = '' } = siteResult({ sequenceNumber: 1, payload: JSON.stringify(body.payload) }) ?? {}
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    }
    const [live = 0, held = 0, refused = 0] = ['live', 'held', 'refused'].map((name) => counts.get(name))
    assert.ok(
      held > 20 && refused > 20 && live > held + refused,
      `${live} live, ${held} held, ${refused} refused`,
    )
  })
})
