/** Why a site shows something else: the lines of the answer. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { PropertyConsumer, PropertyConsumers } from '@property-events/protocol/wire'
import { answerHeadline, answerLines, publisherLine } from '../../src/views/property/answer.ts'
import type { AnswerMark } from '../../src/views/property/answer.ts'

const nowMs = Date.parse('2026-03-01T09:58:30Z')
const event = {
  sequenceNumber: 1_204,
  eventTypeShortCode: 'PropertyUpdated',
  publishedAt: '2026-03-01T09:31:02.500Z',
  category: 'sales',
}
const nothing: PropertyConsumer = {
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
  sentence: 'What the service says.',
}
const endpoint = {
  id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  label: 'Siop £ 🏠',
  state: 'enabled',
  reason: null,
  since: null,
  failingSince: null,
  sequenceNumber: 1_204,
  tries: 2,
  nextTryAt: '2026-03-01T10:10:00.000Z',
  status: 503,
} as const
const at = '2026-03-01T09:32:00.000Z'
const asked = { lastAskedAt: '2026-03-01T09:58:00.000Z', views: ['all'] } as const
const sent = { state: 'sent', at: '2026-03-01T09:31:00.000Z', ...asked } as const

interface Case {
  readonly what: string
  readonly consumer: Partial<PropertyConsumer>
  readonly event?: Partial<typeof event>
  readonly mark: AnswerMark
  readonly text: string
  readonly href?: string
}

const cases: readonly Case[] = [
  {
    what: 'a site that shows it',
    consumer: { state: 'live', at, url: 'https://www.example.com/mill-lane' },
    mark: 'done',
    text: 'Live since 09:32: https://www.example.com/mill-lane.',
    href: 'https://www.example.com/mill-lane',
  },
  {
    what: 'a site whose address a browser would run',
    consumer: { state: 'live', at, url: 'javascript:alert(1)' },
    mark: 'done',
    text: 'Live since 09:32: javascript:alert(1).',
  },
  {
    what: 'a site whose address carries a password',
    consumer: { state: 'live', at, url: 'https://a:b@www.example.com/' },
    mark: 'done',
    text: 'Live since 09:32: https://a:b@www.example.com/.',
  },
  {
    what: 'a site that shows it since another day',
    consumer: { state: 'live', at: '2026-02-28T22:05:00.000Z' },
    mark: 'done',
    text: 'Live since 28 Feb 22:05, at an address that it does not name.',
  },
  {
    what: 'a site that shows it since another year',
    consumer: { state: 'live', at: '2025-12-31T23:59:00.000Z' },
    mark: 'done',
    text: 'Live since 31 Dec 2025 23:59, at an address that it does not name.',
  },
  {
    what: 'a removal that is done',
    consumer: { state: 'live', at },
    event: { eventTypeShortCode: 'PropertyUnpublished' },
    mark: 'done',
    text: 'It says that the property has been down since 09:32.',
  },
  {
    what: 'a version that is held back',
    consumer: { state: 'held', at, code: 'no_photographs', message: 'It waits for a photograph' },
    mark: 'waits',
    text: 'It holds this version back since 09:32: no_photographs, It waits for a photograph.',
  },
  {
    what: 'a version that was refused',
    consumer: { state: 'refused', at, code: 'bad_postcode', message: '<b>No</b>\u202Esuch\npostcode' },
    mark: 'stopped',
    text: 'It refused this version at 09:32: bad_postcode, <b>No</b> such postcode.',
  },
  {
    what: 'a consumer that has applied it',
    consumer: { state: 'applied', at, acknowledged: 1_204 },
    mark: 'done',
    text: 'It reported at 09:32 that it has applied this version. It has not reported whether the site shows it.',
  },
  {
    what: 'a consumer that has applied more, and refused an earlier version',
    consumer: {
      state: 'applied',
      at,
      acknowledged: 1_300,
      earlier: { outcome: 'refused', sequenceNumber: 9 },
    },
    mark: 'done',
    text: 'It reported at 09:32 that it has applied this version (everything through 1,300), and reported "refused" of an earlier version. It has not reported whether the site shows it.',
  },
  {
    what: 'a consumer of the list that asks on',
    consumer: { ...sent, route: 'list', lastNothingNewAt: asked.lastAskedAt },
    mark: 'done',
    text: 'Sent by the list at 09:31, within a minute of being published. It has not reported a result. Its last request was at 09:58 (30 s ago), and there was nothing new.',
  },
  {
    what: 'a consumer that was sent it late',
    consumer: { ...sent, at: '2026-03-01T09:51:00.000Z', route: 'snapshot' },
    mark: 'done',
    text: 'Sent by a snapshot at 09:51, 20 min after it was published. It has not reported a result. Its last request was at 09:58 (30 s ago).',
  },
  {
    what: 'a consumer that has applied less than it was sent',
    consumer: { ...sent, route: 'stream', acknowledged: 1_200 },
    mark: 'done',
    text: 'Sent by the stream at 09:31, within a minute of being published. It reported that it has applied everything through 1,200, which does not include this. Its last request was at 09:58 (30 s ago).',
  },
  {
    what: 'a route that this page does not know',
    consumer: { ...sent, route: 'pigeon' },
    mark: 'done',
    text: 'Sent by pigeon at 09:31, within a minute of being published. It has not reported a result. Its last request was at 09:58 (30 s ago).',
  },
  {
    what: 'a consumer that has stopped',
    consumer: { state: 'pending', ...asked, lastAskedAt: '2026-03-01T06:12:00.000Z' },
    mark: 'stopped',
    text: 'Not sent: it has made no request since 06:12 (3 h 46 min); it has stopped, or a cache in between answers instead of the service.',
  },
  {
    what: 'a consumer that is silent, of an event that was only just published',
    consumer: {
      state: 'pending',
      ...asked,
      lastAskedAt: '2026-03-01T06:12:00.000Z',
      silentSince: '2026-03-01T06:12:00.000Z',
    },
    event: { publishedAt: '2026-03-01T09:58:20.000Z' },
    mark: 'stopped',
    text: 'Not sent: it has made no request since 06:12 (3 h 46 min). It has been silent for longer than expected.',
  },
  {
    what: 'an event of which nobody can have asked yet',
    consumer: { state: 'pending', ...asked },
    event: { publishedAt: '2026-03-01T09:58:20.000Z' },
    mark: 'waits',
    text: 'Not sent: it has made no request since 09:58 (30 s).',
  },
  {
    what: 'a consumer that asks for something else',
    consumer: { state: 'pending', ...asked },
    mark: 'waits',
    text: 'Not sent: it made a request at 09:58 (30 s ago), and this event was not in what it requested.',
  },
  {
    what: 'a consumer of which only an acknowledgement is kept',
    consumer: { state: 'pending' },
    mark: 'stopped',
    text: 'Not sent. The time of its last request is not known.',
  },
  {
    what: 'a consumer of lettings',
    consumer: { state: 'other_category', views: ['lettings'] },
    mark: 'other',
    text: 'It reads lettings only; this is sales.',
  },
  {
    what: 'a key of other branches',
    consumer: { state: 'other_branch' },
    mark: 'other',
    text: 'Its key reads other branches, not the one of this property.',
  },
  {
    what: 'a key that has ended',
    consumer: { state: 'refused_by_us', at: '2026-02-28T17:00:00.000Z', code: 'key_expired', refusals: 3 },
    mark: 'stopped',
    text: 'Its key expired on 28 Feb 17:00, 3 refusals (key_expired).',
  },
  {
    what: 'a key that was revoked',
    consumer: { state: 'refused_by_us', at, code: 'key_revoked' },
    mark: 'stopped',
    text: 'Its key was revoked at 09:32 (key_revoked).',
  },
  {
    what: 'a reader that begins in an epoch that has ended',
    consumer: { state: 'refused_by_us', at, code: 'epoch_changed', refusals: 1 },
    mark: 'stopped',
    text: 'It goes on from an epoch that has ended, and has to begin again with a snapshot since 09:32, one refusal (epoch_changed).',
  },
  {
    what: 'a consumer that has never asked',
    consumer: {},
    mark: 'other',
    text: 'It has never requested this feed.',
  },
  {
    what: 'an endpoint that acknowledged it, and is paused since',
    consumer: { state: 'acknowledged', at, webhook: { ...endpoint, state: 'paused', reason: 'asked' } },
    mark: 'done',
    text: 'Its receiver acknowledged it at 09:32, within a minute of being published. It has not reported a result.',
  },
  {
    what: 'an endpoint at which it waits',
    consumer: { state: 'waiting', at, message: '<b>Ar gau</b>\n–', webhook: endpoint },
    mark: 'waits',
    text: 'Not acknowledged: 2 tries were refused, the last at 09:32 with status 503: <b>Ar gau</b> –. The next try is at 10:10.',
  },
  {
    what: 'an endpoint at which it waits, and whose receiver fails',
    consumer: { state: 'waiting', at, webhook: { ...endpoint, failingSince: at } },
    mark: 'stopped',
    text: 'Not acknowledged: 2 tries were refused, the last at 09:32 with status 503. Its receiver has been failing since 09:32: one request at a time tries it, and the rest waits.',
  },
  {
    what: 'an endpoint that gave it up',
    consumer: { state: 'given_up', at, webhook: endpoint },
    mark: 'stopped',
    text: 'Given up at 09:32; the last try was answered with status 503. Nothing is sent until it is resent, or the property changes.',
  },
  {
    what: 'an endpoint that comes to it next, although it never requests anything',
    consumer: { state: 'pending', webhook: endpoint },
    mark: 'waits',
    text: 'Not sent yet.',
  },
  {
    what: 'an endpoint that is disabled',
    consumer: {
      state: 'pending',
      webhook: { ...endpoint, state: 'disabled', reason: 'gone', since: at },
    },
    mark: 'stopped',
    text: 'Not sent. The endpoint has been disabled since 09:32: its receiver answered with 410.',
  },
  {
    what: 'an endpoint that begins after it',
    consumer: { state: 'skipped', webhook: endpoint },
    mark: 'other',
    text: 'Not sent, as far as is recorded: the endpoint begins after this version.',
  },
  {
    what: 'a state that this page does not know',
    consumer: { state: 'something_new' },
    mark: 'waits',
    text: 'What the service says.',
  },
]

function answerOf(
  consumers: readonly Partial<PropertyConsumer>[],
  of: Partial<typeof event> = {},
): PropertyConsumers {
  return {
    agentRef: '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10',
    event: { ...event, ...of },
    feed: { sequenceNumber: 1_300, epoch: '1', lastPublishedAt: null, silentSince: null },
    consumers: consumers.map((consumer) => ({ ...nothing, ...consumer })),
  }
}

describe('the answer about a property', () => {
  // Sentences have the times of the reader's clock.
  const zone = process.env['TZ']
  before(() => {
    process.env['TZ'] = 'UTC'
  })
  after(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })

  for (const { what, consumer, event: of, mark, text, href } of cases) {
    it(`is right for ${what} (D28)`, () => {
      const [line] = answerLines(answerOf([consumer], of), nowMs)
      assert.equal(line?.parts.map((part) => part.text).join(''), text)
      assert.equal(line?.mark, mark)
      assert.equal(line?.parts.find((part) => part.href !== undefined)?.href, href)
    })
  }

  it('begins with the consumers that need attention, and counts them (D28)', () => {
    const lines = answerLines(
      answerOf([
        { label: 'lets-app', keyId: 'a', state: 'other_category', views: ['lettings'] },
        { label: 'website', keyId: 'b', state: 'sent', at },
        { label: 'portal', keyId: 'c', state: 'refused_by_us', code: 'key_expired' },
        { label: '', keyId: 'd', name: 'shop', state: 'held' },
        { keyId: 'e', name: 'webhook-3f2504e0', state: 'acknowledged', at, webhook: endpoint },
      ]),
      nowMs,
    )
    assert.deepEqual(
      lines.map(({ who }) => who),
      ['portal', 'd · shop', 'Siop £ 🏠 · webhook', 'website', 'lets-app'],
    )
    assert.equal(answerHeadline(lines), '1 stopped, 1 waiting, 2 up to date')
    assert.equal(answerHeadline([]), 'No key can read this property, so no site receives it')
  })

  it('says so if the publisher has fallen silent, and nothing if it has not (PROTOCOL §14.6)', () => {
    const answer = answerOf([])
    assert.equal(publisherLine(answer, nowMs), undefined)
    const silent = { ...answer, feed: { ...answer.feed, silentSince: '2026-03-01T06:28:30.000Z' } }
    assert.match(
      publisherLine(silent, nowMs) ?? '',
      /^Nothing has been published for the agency since 06:28 \(3 h 30 min\)/,
    )
  })

  it('writes times by the clock of the reader (D28)', () => {
    process.env['TZ'] = 'Europe/London'
    const summer = answerOf([{ state: 'live', at: '2026-07-01T09:32:00.000Z' }])
    const [line] = answerLines(summer, Date.parse('2026-07-01T12:00:00Z'))
    process.env['TZ'] = 'UTC'
    assert.equal(line?.parts[0]?.text, 'Live since 10:32, at an address that it does not name.')
  })
})
