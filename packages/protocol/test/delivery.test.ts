/** The one sentence about a property at a consumer, case by case (D28). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deliverySentence, deliveryStates, silentPublisherSentence } from '../src/index.ts'
import type { ConsumerDelivery } from '../src/index.ts'
import type { DeliveredEvent } from '../schemas/wire.ts'

const now = new Date('2026-03-01T09:58:30Z')
const event: DeliveredEvent = {
  sequenceNumber: 1_204,
  eventTypeShortCode: 'PropertyUpdated',
  publishedAt: '2026-03-01T09:31:02.500Z',
  category: 'sales',
}
const removal = { ...event, eventTypeShortCode: 'PropertyUnpublished' }

const nothing: ConsumerDelivery = {
  keyId: '7Hq2',
  name: 'default',
  label: 'website',
  state: 'never_asked',
  at: null,
  route: null,
  code: null,
  message: null,
  url: null,
  refusals: null,
  lastAskedAt: null,
  lastNothingNewAt: null,
  silentSince: null,
  acknowledged: null,
  earlier: null,
  views: [],
  eventType: null,
  timeToLive: null,
  webhook: null,
}
const endpoint = {
  id: '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10',
  label: 'Siop £',
  state: 'enabled',
  reason: null,
  since: null,
  failingSince: null,
  sequenceNumber: null,
  tries: 0,
  nextTryAt: null,
  status: null,
} as const
const asked = { lastAskedAt: '2026-03-01T09:58:00.000Z', views: ['all'] } as const

const usual = {
  since: '2026-01-30T09:58:30.000Z',
  live: 40,
  p50Seconds: 720,
  p95Seconds: 7_500,
  notLiveYet: 1,
  oldestNotLiveAt: '2026-02-28T09:00:00.000Z',
  neverLive: 0,
}

interface Case {
  readonly what: string
  readonly delivery: Partial<ConsumerDelivery>
  readonly event?: DeliveredEvent
  readonly sentence: string
}

const at = '2026-03-01T09:32:00.000Z'
const cases: readonly Case[] = [
  {
    what: 'live',
    delivery: { state: 'live', at, url: 'https://example.com/mill-lane' },
    sentence: 'Live since 09:32: https://example.com/mill-lane.',
  },
  {
    what: 'live without an address',
    delivery: { state: 'live', at },
    sentence: 'Live since 09:32, at an address that it does not name.',
  },
  {
    what: 'a removal that is done',
    delivery: { state: 'live', at },
    event: removal,
    sentence: 'It says that the property has been down since 09:32.',
  },
  {
    what: 'live since another day',
    delivery: { state: 'live', at: '2026-02-28T22:05:00.000Z', url: 'https://example.com/1' },
    sentence: 'Live since 2026-02-28 22:05: https://example.com/1.',
  },
  {
    what: 'held, with a reason',
    delivery: { state: 'held', at, code: 'no_photographs', message: 'It waits for a photograph' },
    sentence: 'It holds this version back since 09:32: no_photographs, It waits for a photograph.',
  },
  {
    what: 'held without one',
    delivery: { state: 'held', at },
    sentence: 'It holds this version back since 09:32, without a reason.',
  },
  {
    what: 'refused, with a code',
    delivery: { state: 'refused', at, code: 'bad_postcode' },
    sentence: 'It refused this version at 09:32: bad_postcode.',
  },
  {
    what: 'refused without one',
    delivery: { state: 'refused', at },
    sentence: 'It refused this version at 09:32, without a reason.',
  },
  {
    what: 'applied',
    delivery: { state: 'applied', at, acknowledged: 1_204 },
    sentence:
      'It reported at 09:32 that it has applied this version. It has not reported whether the site shows it.',
  },
  {
    what: 'applied with what came after it, of a removal',
    delivery: { state: 'applied', at, acknowledged: 1_300 },
    event: removal,
    sentence:
      'It reported at 09:32 that it has applied the removal (everything through 1,300). It has not reported whether the site shows it.',
  },
  {
    what: 'applied, and refused before',
    delivery: {
      state: 'applied',
      at,
      acknowledged: 1_204,
      earlier: { outcome: 'refused', sequenceNumber: 900 },
    },
    sentence:
      'It reported at 09:32 that it has applied this version, and reported "refused" of an earlier version. It has not reported whether the site shows it.',
  },
  {
    what: 'sent by the list at once',
    delivery: {
      state: 'sent',
      at: '2026-03-01T09:31:00.000Z',
      route: 'list',
      ...asked,
      lastNothingNewAt: asked.lastAskedAt,
    },
    sentence:
      'Sent by the list at 09:31, within a minute of being published. It has not reported a result. Its last request was at 09:58 (30 s ago), and there was nothing new.',
  },
  {
    what: 'sent, by a consumer whose listings are usually live soon',
    delivery: { state: 'sent', at: '2026-03-01T09:31:00.000Z', route: 'list', ...asked, timeToLive: usual },
    sentence:
      'Sent by the list at 09:31, within a minute of being published. It has not reported a result. Its last request was at 09:58 (30 s ago). Half of its listings are live within 12 min, 95 of 100 within 2 h 5 min.',
  },
  {
    what: 'sent, by a consumer that has shown no listing',
    delivery: {
      state: 'sent',
      at: '2026-03-01T09:31:00.000Z',
      route: 'list',
      ...asked,
      timeToLive: { ...usual, live: 0, p50Seconds: null, p95Seconds: null },
    },
    sentence:
      'Sent by the list at 09:31, within a minute of being published. It has not reported a result. Its last request was at 09:58 (30 s ago).',
  },
  {
    what: 'held, by a consumer whose listings are usually live soon',
    delivery: { state: 'held', at, message: 'No photograph', timeToLive: usual },
    sentence: 'It holds this version back since 09:32: No photograph.',
  },
  {
    what: 'sent late, by a snapshot',
    delivery: { state: 'sent', at: '2026-03-01T09:51:00.000Z', route: 'snapshot', ...asked },
    sentence:
      'Sent by a snapshot at 09:51, 20 min after it was published. It has not reported a result. Its last request was at 09:58 (30 s ago).',
  },
  {
    what: 'sent, and acknowledged only through an earlier one',
    delivery: {
      state: 'sent',
      at: '2026-03-01T09:31:00.000Z',
      route: 'stream',
      acknowledged: 1_200,
      ...asked,
    },
    sentence:
      'Sent by the stream at 09:31, within a minute of being published. It reported that it has applied everything through 1,200, which does not include this. Its last request was at 09:58 (30 s ago).',
  },
  {
    what: 'sent, long ago',
    delivery: { state: 'sent', ...asked },
    event: { ...event, publishedAt: '2026-01-01T00:00:00.000Z' },
    sentence:
      'Sent; the minute is no longer on record. It has not reported a result. Its last request was at 09:58 (30 s ago).',
  },
  {
    what: 'sent, in the numbers of another catalogue',
    delivery: {
      state: 'sent',
      at: '2026-03-01T09:31:00.000Z',
      route: 'run',
      ...asked,
      eventType: { catalogue: 'published-0', number: 0 },
    },
    sentence:
      'Sent by the events after a number at 09:31, within a minute of being published. It has not reported a result. Its last request was at 09:58 (30 s ago). Its key reads the numbers of published-0: PropertyUpdated is 0.',
  },
  {
    what: 'a consumer that has stopped',
    delivery: { state: 'pending', ...asked, lastAskedAt: '2026-03-01T06:12:00.000Z' },
    sentence:
      'Not sent: it has made no request since 06:12 (3 h 46 min); it has stopped, or a cache in between answers instead of the service.',
  },
  {
    what: 'a consumer that has not asked for longer than expected',
    delivery: {
      state: 'pending',
      ...asked,
      lastAskedAt: '2026-03-01T06:12:00.000Z',
      silentSince: '2026-03-01T06:12:00.000Z',
    },
    event: { ...event, publishedAt: '2026-03-01T09:58:20.000Z' },
    sentence:
      'Not sent: it has made no request since 06:12 (3 h 46 min). It has been silent for longer than expected.',
  },
  {
    what: 'a consumer that was sent it, and is silent',
    delivery: {
      state: 'sent',
      at: '2026-03-01T09:31:00.000Z',
      route: 'list',
      ...asked,
      lastAskedAt: '2026-03-01T09:32:30.000Z',
      silentSince: '2026-03-01T09:32:30.000Z',
      eventType: { catalogue: 'published-0', number: 0 },
    },
    sentence:
      'Sent by the list at 09:31, within a minute of being published. It has not reported a result. Its last request was at 09:32 (26 min ago). It has been silent for longer than expected. Its key reads the numbers of published-0: PropertyUpdated is 0.',
  },
  {
    what: 'a consumer that has asked for contacts since, and is silent',
    delivery: { state: 'pending', ...asked, silentSince: '2026-03-01T09:58:10.000Z' },
    sentence:
      'Not sent: it made a request at 09:58 (30 s ago), and this event was not in what it requested. It has been silent since 09:58 (20 s), for longer than expected.',
  },
  {
    what: 'a site that shows it, and is silent',
    delivery: { state: 'live', at, url: 'https://example.com/1', silentSince: '2026-03-01T09:33:30.000Z' },
    sentence:
      'Live since 09:32: https://example.com/1. It has been silent since 09:33 (25 min), for longer than expected.',
  },
  {
    what: 'a consumer that is waited for',
    delivery: { silentSince: '2026-02-27T05:58:30.000Z' },
    sentence:
      'It has never requested this feed. It has been silent since 2026-02-27 05:58 (2 d 4 h), for longer than expected.',
  },
  {
    what: 'a consumer that asks and is refused, which is no silence',
    delivery: { state: 'refused_by_us', at, code: 'key_network', refusals: 2, silentSince: at },
    sentence:
      'Its requests come from a network that its key does not allow since 09:32, 2 refusals (key_network).',
  },
  {
    what: 'an event that was only just published',
    delivery: { state: 'pending', ...asked },
    event: { ...event, publishedAt: '2026-03-01T09:58:20.000Z' },
    sentence: 'Not sent: it has made no request since 09:58 (30 s).',
  },
  {
    what: 'a consumer that asks for other things',
    delivery: { state: 'pending', ...asked },
    sentence: 'Not sent: it made a request at 09:58 (30 s ago), and this event was not in what it requested.',
  },
  {
    what: 'a consumer that shows an earlier version',
    delivery: {
      state: 'pending',
      ...asked,
      lastAskedAt: '2026-02-27T05:58:30.000Z',
      earlier: { outcome: 'live', sequenceNumber: 900 },
    },
    sentence:
      'Not sent: it has made no request since 2026-02-27 05:58 (2 d 4 h); it has stopped, or a cache in between answers instead of the service. It reported "live" of an earlier version (900).',
  },
  {
    what: 'a consumer of which only an acknowledgement is kept',
    delivery: { state: 'pending' },
    sentence: 'Not sent. The time of its last request is not known.',
  },
  {
    what: 'another category',
    delivery: { state: 'other_category', views: ['lettings'] },
    sentence: 'It reads lettings only; this is sales.',
  },
  {
    what: 'another branch',
    delivery: { state: 'other_branch' },
    sentence: 'Its key reads other branches, not the one of this property.',
  },
  {
    what: 'a key that was revoked',
    delivery: { state: 'refused_by_us', at: '2026-02-28T17:00:00.000Z', code: 'key_revoked', refusals: 3 },
    sentence: 'Its key was revoked on 2026-02-28 17:00, 3 refusals (key_revoked).',
  },
  {
    what: 'a key that has ended and is not used any more',
    delivery: { state: 'refused_by_us', at, code: 'key_expired' },
    sentence: 'Its key expired at 09:32 (key_expired).',
  },
  {
    what: 'a tenant that is suspended',
    delivery: { state: 'refused_by_us', code: 'key_disabled', refusals: 1 },
    sentence: 'Its key is disabled, because the tenant is suspended or has left, one refusal (key_disabled).',
  },
  {
    what: 'a code that this version does not know',
    delivery: { state: 'refused_by_us', at, code: 'something_new', refusals: 2 },
    sentence: 'Its requests are refused since 09:32, 2 refusals (something_new).',
  },
  {
    what: 'an endpoint that acknowledged it',
    delivery: { state: 'acknowledged', at: '2026-03-01T09:31:03.000Z', webhook: endpoint, timeToLive: usual },
    sentence:
      'Its receiver acknowledged it at 09:31, within a minute of being published. It has not reported a result. Half of its listings are live within 12 min, 95 of 100 within 2 h 5 min.',
  },
  {
    what: 'an endpoint that acknowledged it long ago, and is paused',
    delivery: {
      state: 'acknowledged',
      webhook: { ...endpoint, state: 'paused', reason: 'asked', since: at },
    },
    sentence:
      'Its receiver acknowledged it; the minute is no longer on record. It has not reported a result.',
  },
  {
    what: 'an endpoint at which it waits, with the last answer and the next try',
    delivery: {
      state: 'waiting',
      at: '2026-03-01T09:40:00.000Z',
      message: 'Ar gau – closed 🏠',
      webhook: {
        ...endpoint,
        sequenceNumber: 1_204,
        tries: 3,
        status: 500,
        nextTryAt: '2026-03-01T10:10:00.000Z',
      },
    },
    sentence:
      'Not acknowledged: 3 tries were refused, the last at 09:40 with status 500: Ar gau – closed 🏠. The next try is at 10:10.',
  },
  {
    what: 'an endpoint at which it waits behind an earlier version, without an answer',
    delivery: {
      state: 'waiting',
      at: '2026-03-01T09:40:00.000Z',
      message: 'no answer within 15 s',
      webhook: { ...endpoint, sequenceNumber: 1_190, tries: 1, nextTryAt: '2026-03-01T09:58:00.000Z' },
    },
    sentence:
      'Not sent: it waits behind an earlier version (1,190): one try was refused, at 09:40 with no answer: no answer within 15 s. The next try is due.',
  },
  {
    what: 'an endpoint that is about to be sent it again',
    delivery: { state: 'waiting', webhook: { ...endpoint, sequenceNumber: 1_204 } },
    sentence: 'Not acknowledged. The next try is due.',
  },
  {
    what: 'an endpoint at which it waits, and which is disabled',
    delivery: {
      state: 'waiting',
      at: '2026-03-01T09:40:00.000Z',
      webhook: {
        ...endpoint,
        state: 'disabled',
        reason: 'key_revoked',
        since: at,
        sequenceNumber: 1_204,
        tries: 2,
        status: 404,
        nextTryAt: '2026-03-01T10:10:00.000Z',
      },
    },
    sentence:
      'Not acknowledged: 2 tries were refused, the last at 09:40 with status 404. The endpoint has been disabled since 09:32: its key has ended, or lost a right.',
  },
  {
    what: 'an endpoint that gave it up',
    delivery: {
      state: 'given_up',
      at: '2026-03-01T09:40:00.000Z',
      message: 'Bad postcode',
      webhook: { ...endpoint, sequenceNumber: 1_204, tries: 10, status: 422 },
    },
    sentence:
      'Given up at 09:40; the last try was answered with status 422: Bad postcode. Nothing is sent until it is resent, or the property changes.',
  },
  {
    what: 'an endpoint that begins after it',
    delivery: { state: 'skipped', webhook: endpoint },
    sentence: 'Not sent, as far as is recorded: the endpoint begins after this version.',
  },
  {
    what: 'an endpoint that was sent it, and has not answered',
    delivery: { state: 'sent', at: '2026-03-01T09:31:00.000Z', route: 'webhook', webhook: endpoint },
    sentence:
      'Sent by its webhook at 09:31, within a minute of being published. Its receiver has not acknowledged it.',
  },
  {
    what: 'an endpoint that comes to it next',
    delivery: { state: 'pending', ...asked, webhook: endpoint },
    sentence: 'Not sent yet.',
  },
  {
    what: 'an endpoint whose receiver fails',
    delivery: { state: 'pending', webhook: { ...endpoint, failingSince: at } },
    sentence:
      'Not sent. Its receiver has been failing since 09:32: one request at a time tries it, and the rest waits.',
  },
  {
    what: 'an endpoint that somebody has paused',
    delivery: { state: 'pending', webhook: { ...endpoint, state: 'paused', reason: 'asked', since: at } },
    sentence: 'Not sent. The endpoint has been paused since 09:32.',
  },
  {
    what: 'an endpoint that is paused for a reason that this version does not know',
    delivery: { state: 'pending', webhook: { ...endpoint, state: 'paused', reason: 'moon', since: at } },
    sentence: 'Not sent. The endpoint has been paused since 09:32: moon.',
  },
  { what: 'a consumer that has never asked', delivery: {}, sentence: 'It has never requested this feed.' },
]

describe('the sentence about a property at a consumer', () => {
  for (const { what, delivery, sentence, event: of = event } of cases) {
    it(`says it of ${what} (D28)`, () => {
      assert.equal(deliverySentence(of, { ...nothing, ...delivery }, now), sentence)
    })
  }

  it('says of a publisher that should have published that its changes are not in the feed (PROTOCOL §14.6)', () => {
    assert.equal(
      silentPublisherSentence('2026-03-01T06:28:30.000Z', now),
      'Nothing has been published for the agency since 06:28 (3 h 30 min), for longer than expected: what it has changed since then is not in the feed.',
    )
  })

  it('has a case for every state, and times as its reader wants them (D28)', () => {
    const tried = new Set(cases.map(({ delivery }) => delivery.state ?? nothing.state))
    assert.deepEqual(
      deliveryStates.filter((state) => !tried.has(state)),
      [],
    )
    const live: ConsumerDelivery = { ...nothing, state: 'live', at, url: 'https://example.com/1' }
    const local = deliverySentence(event, live, now, (time) => `half past nine (${time})`)
    assert.equal(local, `Live since half past nine (${at}): https://example.com/1.`)
  })
})
