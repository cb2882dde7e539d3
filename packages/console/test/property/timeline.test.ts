/** The timeline of a property, its prices, and what stands at the top of its page. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FeedEvent } from '@property-events/protocol/wire'
import { mediaTiles } from '../../src/views/property/media-tiles.ts'
import { priceChart, priceSteps } from '../../src/views/property/price-steps.ts'
import { summaryOf } from '../../src/views/property/summary.ts'
import { readVersions, timelineOf } from '../../src/views/property/timeline.ts'

const agentRef = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'
const home = {
  agent_ref: agentRef,
  published: true,
  status: 1,
  address: { display_address: '12 Mill Lane, Aylsham', postcode_1: 'NR11', postcode_2: '6AB' },
  price_information: { price: 310000 },
}

/** Events of one property, a day after another from 1 January 2026 on. */
function eventsOf(...payloads: readonly (readonly [type: string, payload: unknown])[]): readonly FeedEvent[] {
  return payloads.map(([type, payload], index) => ({
    tenantId: '5f0f1a52-6f0e-4c83-8a44-c2be8a0a83e1',
    sequenceNumber: index + 1,
    eventType: 0,
    eventTypeShortCode: type,
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    transactionId: agentRef,
    id: `id-${index}`,
    createdDate: `2026-01-${String(index + 1).padStart(2, '0')}T08:00:00.0000000`,
  }))
}

const priced = (price: number | null, further: object = {}) => ({
  ...home,
  price_information: { price },
  ...further,
})
const nowMs = Date.parse('2026-01-31T08:00:00Z')

const story = eventsOf(
  ['PropertyPublished', priced(310_000)],
  ['PropertyUpdated', priced(295_000)],
  ['PropertyUpdated', priced(295_000)],
  ['PropertyUpdated', JSON.stringify(priced(295_000)).replace('295000', '295000.0')],
  ['PropertyUpdated', priced(295_000, { status: 4 })],
  ['PropertyUnpublished', priced(295_000, { status: 4, published: false, removal_reason: 9 })],
  ['PropertyUnpublished', { agent_ref: agentRef, published: false }],
  ['PropertyPublished', priced(289_950)],
)

describe('the timeline of a property', () => {
  it('says what each event was and what it changed, the newest first (D31)', () => {
    const lines = timelineOf(readVersions(story))
    assert.deepEqual(
      lines.map(({ type, headline, change, isUnchanged }) => [
        type,
        headline,
        change.differences.map(({ label }) => label).join(),
        isUnchanged,
      ]),
      [
        ['Published', 'back on the market at £289,950', 'price,status', false],
        ['Unpublished', 'taken off the market again', '', false],
        ['Unpublished', 'taken off the market: Withdrawn from Market', '', false],
        ['Updated', undefined, 'status', false],
        ['Updated', 'same values again, written differently', '', true],
        ['Updated', 'same payload again', '', true],
        ['Updated', undefined, 'price', false],
        ['Published', 'first listed at £310,000', '', false],
      ],
    )
  })

  it('says so if the previous payload is not there any more (D31)', () => {
    const thinned = { agent_ref: agentRef, published: false, thinned: true }
    const lines = timelineOf(
      readVersions(
        eventsOf(
          ['PropertyPublished', thinned],
          ['PropertyUpdated', priced(1)],
          ['PropertyUpdated', { agent_ref: agentRef, published: false, erased: true }],
          ['PropertyUpdated', 'nonsense'],
          ['SomethingElse', priced(null)],
        ),
      ),
    )
    assert.deepEqual(
      lines.map(({ type, headline }) => `${type}: ${headline}`),
      [
        'SomethingElse: changes unknown: the previous payload was not kept',
        'Updated: its payload is not a JSON object',
        'Updated: its payload was erased',
        'Updated: changes unknown: the previous payload was not kept',
        'Published: its payload was removed by retention, as a later version followed',
      ],
    )
  })

  it('draws steps of the prices, with a gap while it was down (D31)', () => {
    const steps = priceSteps(readVersions(story))
    assert.deepEqual(
      steps.map(({ text }) => text),
      ['£310,000', '£295,000', 'off the market', '£289,950'],
    )
    const chart = priceChart(steps, nowMs)
    assert.equal(chart?.words, '£310,000, then £295,000, then off the market, then £289,950')
    assert.deepEqual(
      chart?.points.map(({ from, to, value }) => [Math.round(from * 30), Math.round(to * 30), value]),
      [
        [0, 1, 310_000],
        [1, 5, 295_000],
        [5, 7, null],
        [7, 30, 289_950],
      ],
    )
    assert.match(chart?.points[1]?.says ?? '', /^£295,000, since \d+ \w{3}/)
    assert.deepEqual([chart?.times.at(0)?.at, chart?.times.at(-1)?.at], [0, 1])
  })

  it('draws a single price as a straight line and rents by the month, and no line without a price (D31)', () => {
    const rent = (price: number, frequency: number) =>
      priced(0, { price_information: { price, rent_frequency: frequency } })
    const steps = priceSteps(
      readVersions(eventsOf(['PropertyPublished', rent(1_300, 12)], ['PropertyUpdated', rent(300, 52)])),
    )
    assert.deepEqual(
      steps.map(({ amount, text }) => [amount, text]),
      [
        [1_300, '£1,300 pcm'],
        [1_300, '£300 pw'],
      ],
    )
    assert.deepEqual(
      priceChart(steps, nowMs)?.points.map(({ value }) => value),
      [1_300, 1_300],
    )
    const none = priceSteps(readVersions(eventsOf(['PropertyPublished', priced(null)])))
    assert.equal(priceChart(none, nowMs), undefined)
  })

  it('says at the top what the property is and for how long (D31)', () => {
    const summary = summaryOf(readVersions(story), agentRef, nowMs)
    assert.equal(summary.address, '12 Mill Lane, Aylsham NR11 6AB')
    assert.equal(summary.price, '£289,950')
    assert.equal(summary.status, 'Available')
    assert.equal(summary.presence, 'listed 23 days ago')
    assert.deepEqual(summary.statuses, ['Available', 'Under Offer', 'Available'])
    assert.equal(
      summaryOf(readVersions(story.slice(0, 7)), agentRef, nowMs).presence,
      'off the market for 25 days',
    )
    const bare = summaryOf(
      readVersions(eventsOf(['PropertyPublished', { agent_ref: agentRef }])),
      agentRef,
      nowMs,
    )
    assert.deepEqual([bare.address, bare.price, bare.status], [agentRef, undefined, undefined])
  })

  it('marks photographs that are new, moved, changed and gone (D31)', () => {
    const picture = (name: string, caption = '') => ({
      media_type: 1,
      media_url: `https://images.example.com/${name}.jpg`,
      caption,
    })
    const media = (...items: readonly object[]) => priced(1, { media: items })
    const versions = readVersions(
      eventsOf(
        ['PropertyPublished', media(picture('a'), picture('b'), picture('c'), picture('d'))],
        ['PropertyUpdated', media(picture('a'), picture('new'), picture('d'), picture('b', 'Garden'))],
      ),
    )
    const { tiles, more } = mediaTiles(versions)
    assert.deepEqual(
      tiles.map(({ item, mark, from }) => [item.position, mark, from]),
      [
        [1, undefined, undefined],
        [2, 'new', undefined],
        [3, 'moved', 4],
        [4, 'changed', undefined],
        [3, 'gone', undefined],
      ],
    )
    assert.equal(more, 0)
    const first = mediaTiles(versions.slice(0, 1))
    assert(first.tiles.every(({ mark }) => mark === undefined))
    const hostile = readVersions(
      eventsOf(['PropertyPublished', { ...home, media: [null, 'x', { media_type: 'x' }, []] }]),
    )
    assert.equal(mediaTiles(hostile).tiles.length, 4)
  })
})
