/** What the list and the event beside it show. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FeedEvent } from '@property-events/protocol/wire'
import { createAnnouncer } from '../src/views/feed/announcer.ts'
import { apiEventTypeOf, readCategory } from '../src/views/feed/categories.ts'
import { copyAs, rawText } from '../src/views/feed/event-text.ts'
import { feedRow, subjectOf } from '../src/views/feed/feed-row.ts'
import { addRun, beginRuns, isWhole, startBefore } from '../src/views/feed/typed-runs.ts'

const agentRef = '0B9D5C1E-8f0a-4f1b-9a53-0c2f8d1f7a10'

function eventWith(payload: unknown, eventTypeShortCode = 'PropertyUpdated'): FeedEvent {
  return {
    tenantId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    sequenceNumber: 7,
    eventType: 0,
    eventTypeShortCode,
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    transactionId: agentRef,
    id: '5f2504e0-4f89-41d3-9a0c-0305e82c3309',
    createdDate: '2026-03-01T09:31:07.0000000',
  }
}

describe('a row of the feed', () => {
  it('shows the address and the price as a listing shows them (PROTOCOL §10)', () => {
    const row = feedRow(
      'property',
      eventWith({
        agent_ref: agentRef,
        address: { display_address: 'Mill Lane, Aylsham', postcode_1: 'NR11', postcode_2: '6AB' },
        price_information: { price: 289_950 },
      }),
    )
    assert.equal(row.what, 'Mill Lane, Aylsham, NR11 6AB')
    assert.equal(row.price, '£289,950')
    assert.equal(row.type, 'Updated')
    assert.equal(row.isRemoval, false)
  })

  it('says what was erased or thinned, and shows the reference if there is no address (PROTOCOL §5.7)', () => {
    const what = (payload: unknown) => feedRow('property', eventWith(payload)).what
    assert.equal(what({ agent_ref: agentRef, published: false, erased: true }), 'erased')
    assert.equal(what({ agent_ref: agentRef, published: false, thinned: true }), 'thinned by retention')
    assert.equal(what({ agent_ref: agentRef, published: true }), agentRef.toLowerCase())
    assert.equal(what('not JSON'), 'The payload cannot be read')
  })

  it('shows markup and characters that change the writing direction as plain text, in one line (D31)', () => {
    const hostile = '<img src=x onerror=alert(1)>\u202Egnp.exe\n' + 'x'.repeat(100_000)
    const { what } = feedRow(
      'property',
      eventWith({ agent_ref: agentRef, address: { display_address: hostile } }),
    )
    assert.ok(what.startsWith('<img src=x onerror=alert(1)> gnp.exe x'))
    assert.ok(what.length <= 200)
  })

  it('shows the reference of a contact and no name (D18)', () => {
    const row = feedRow(
      'contact',
      eventWith({ contact_ref: agentRef, last_name: 'Example' }, 'ContactUpdated'),
    )
    assert.equal(row.what, agentRef.toLowerCase())
    assert.ok(!JSON.stringify(row).includes('Example'))
    assert.equal(subjectOf('{}'), '')
  })

  it('can be limited to a category by the names in the contract (D1)', () => {
    assert.equal(apiEventTypeOf('property', readCategory('lettings')), 'lettingsproperty')
    assert.equal(apiEventTypeOf('property', readCategory('commercial')), undefined)
    assert.equal(apiEventTypeOf('contact', 'sales'), undefined)
  })
})

describe('an event beside the list', () => {
  it('is copied as a request without a key, and no part of the address can break out of its quotes (D11)', () => {
    const event = eventWith({})
    assert.equal(
      copyAs('curl', 'https://feed.example.com/a', 'property', event),
      `curl -H "x-api-key: $PROPERTY_EVENTS_KEY" -H 'x-tenant: ${event.tenantId}' 'https://feed.example.com/a/api/func/api/v1/events/geteventbyid/${event.id}'`,
    )
    assert.match(copyAs('TypeScript', 'https://feed.example.com', 'contact', event), /feed: 'contact'/)
    assert.match(copyAs('PHP', "https://feed.example.com/it's", 'property', event), /it%27s/)
  })

  it('shows its payload with line breaks, and its numbers as they were written (D22)', () => {
    const { text, isCut } = rawText('{"a":250000.00,"b":[1,{"c":"x,{}"}],"d":{},"e":[]}', false)
    assert.equal(
      text,
      '{\n  "a": 250000.00,\n  "b": [\n    1,\n    {\n      "c": "x,{}"\n    }\n  ],\n  "d": {},\n  "e": []\n}',
    )
    assert.equal(isCut, false)
  })

  it('shows part of a line of a megabyte, all of it on request, and every invisible character by its code (D31)', () => {
    const payload = JSON.stringify({ a: `\u202E${'x'.repeat(1_000_000)}` })
    const part = rawText(payload, false)
    assert.ok(part.isCut && part.text.length < 3_000 && part.text.includes('\\u202E'))
    assert.ok(rawText(payload, true).text.length > 1_000_000)
    assert.equal(rawText('not JSON <b>', false).text, 'not JSON <b>')
  })
})

describe('live news', () => {
  it('are announced at most every five seconds, and all of them in the end (D31)', () => {
    const announcer = createAnnouncer(100)
    assert.equal(announcer.sayNow(100, 0), undefined)
    assert.equal(announcer.sayNow(101, 1_000), '1 new event')
    assert.equal(announcer.sayNow(130, 2_000), undefined)
    assert.equal(announcer.sayNow(138, 6_000), '37 new events')
    assert.equal(announcer.sayNow(138, 60_000), undefined)
  })
})

describe('events of one type', () => {
  const run = (from: number, count: number, head: number) => ({
    items: Array.from({ length: count }, (_, n) => ({
      ...eventWith({}, (from + n) % 3 === 0 ? 'PropertyUnpublished' : 'PropertyPublished'),
      sequenceNumber: from + n,
    })),
    next: from + count - 1,
    head,
  })

  it('are read forward from the last ten thousand numbers, or from a chosen number (PROTOCOL §13.4)', () => {
    assert.equal(startBefore(1_000_000), 990_000)
    assert.equal(startBefore(7), 0)
    const runs = addRun(beginRuns('PropertyPublished', 0), run(1, 6, 20))
    assert.deepEqual(
      runs.items.map(({ sequenceNumber }) => sequenceNumber),
      [1, 2, 4, 5],
      'removals, which every run has, are left out',
    )
    assert.equal(isWhole(runs), false)
    assert.equal(runs.reach, 'Searched numbers 1 to 6 of 20.')
  })

  it('say that the list is complete once the newest event has been read, and continue from there (PROTOCOL §13.4)', () => {
    const whole = addRun(beginRuns('PropertyUnpublished', 0), run(1, 6, 6))
    assert.equal(isWhole(whole), true)
    assert.equal(whole.reach, 'All events of this type from number 1.')
    const grown = addRun(whole, run(7, 3, 9))
    assert.deepEqual(
      grown.items.map(({ sequenceNumber }) => sequenceNumber),
      [3, 6, 9],
    )
  })
})
