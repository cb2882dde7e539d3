/** Consumers, publications, the audit and the system, in words. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Consumer, GrantScope, Key, PublicationMinute } from '@property-events/protocol/wire'
import { actionWords, actorWords, detailWords, labelsOf } from '../../src/views/audit/audit-line.ts'
import {
  consumerLines,
  lagWords,
  liveAfterWords,
  notLiveWords,
} from '../../src/views/consumers/consumer-line.ts'
import {
  keyName,
  outcomeWords,
  publishingKeys,
  refusalWords,
  warningPointerLines,
  warningWords,
} from '../../src/views/publications/publication-line.ts'
import { findingsFirst, settingText } from '../../src/views/health/settings.ts'

const nowMs = Date.parse('2026-03-01T09:30:00Z')

const consumer: Consumer = {
  keyId: 'k',
  name: 'default',
  label: 'website',
  ended: null,
  lastAskedAt: '2026-03-01T09:29:50.000Z',
  lastStatus: 200,
  lastNothingNewAt: null,
  stoppedAfter: null,
  expectedSeconds: null,
  expectation: 'learning',
  silentSince: null,
  lastRoute: 'list',
  acknowledged: null,
  refused: null,
  timeToLive: null,
  webhook: null,
  views: [{ view: 'all', through: 10, lagEvents: 0, lagSeconds: 0 }],
}
const behind = [{ view: 'all', through: 10, lagEvents: 412, lagSeconds: 14_400 }]

const states: readonly (readonly [what: string, consumer: Partial<Consumer>, mark: string, state: string])[] =
  [
    ['that is up to date', {}, 'good', 'up to date'],
    ['that reads single events', { views: [] }, 'good', 'reads single events'],
    ['that is catching up', { views: behind }, 'behind', 'catching up'],
    [
      'that has stopped',
      { views: behind, lastAskedAt: '2026-03-01T06:12:00.000Z' },
      'stopped',
      'no requests for 3 h',
    ],
    ['that is up to date and rests', { lastAskedAt: '2026-02-01T06:12:00.000Z' }, 'good', 'up to date'],
    ['that has never asked', { lastAskedAt: null, views: [] }, 'idle', 'no requests yet'],
    ['of a key that has ended', { ended: 'key_revoked' }, 'stopped', 'key revoked'],
    [
      'that is refused',
      { refused: { code: 'epoch_changed', since: null, count: 3 } },
      'stopped',
      '3 refusals (epoch_changed)',
    ],
  ]

describe('a consumer', () => {
  for (const [what, changed, mark, state] of states) {
    it(`${what} is described as such (PROTOCOL §14.6)`, () => {
      const [line] = consumerLines([{ ...consumer, ...changed }], nowMs)
      assert.deepEqual([line?.mark, line?.state], [mark, state])
    })
  }

  it('that needs attention comes first, then the one that is furthest behind (PROTOCOL §14.6)', () => {
    const lines = consumerLines(
      [
        consumer,
        { ...consumer, label: 'portal', views: behind, name: 'shop' },
        { ...consumer, label: '', keyId: '4fgH', ended: 'key_expired' },
      ],
      nowMs,
    )
    assert.deepEqual(
      lines.map(({ who, lag }) => `${who}: ${lagWords(lag)}`),
      ['4fgH: 0', 'portal · shop: 412 events, 4 h', 'website: 0'],
    )
    assert.equal(lagWords(undefined), '–')
  })
})

const time = {
  since: '2026-01-30T09:30:00.000Z',
  live: 1_240,
  p50Seconds: 720,
  p95Seconds: 7_500,
  notLiveYet: 1_002,
  oldestNotLiveAt: '2026-03-01T05:29:00.000Z',
  neverLive: 3,
}
const times: readonly (readonly [
  what: string,
  time: Consumer['timeToLive'],
  after: string,
  notLive: string,
])[] = [
  ['that reports nothing', null, '–', '–'],
  ['that is slow', time, '12 min, 95 % within 2 h', '1,002, oldest 4 h; 3 never'],
  [
    'that shows everything',
    { ...time, notLiveYet: 0, oldestNotLiveAt: null, neverLive: 0 },
    '12 min, 95 % within 2 h',
    '0',
  ],
  [
    'that shows nothing',
    { ...time, live: 0, p50Seconds: null, p95Seconds: null, neverLive: 0 },
    '–',
    '1,002, oldest 4 h',
  ],
]

describe('the listings of a consumer', () => {
  for (const [what, timeToLive, liveAfter, notLive] of times) {
    it(`${what} are described as such (PROTOCOL §14.6)`, () => {
      const of = { ...consumer, timeToLive }
      assert.deepEqual([liveAfterWords(of), notLiveWords(of, nowMs)], [liveAfter, notLive])
    })
  }
})

describe('a minute of publications', () => {
  const minute: PublicationMinute = {
    at: '2026-03-01T09:30:00.000Z',
    feed: 'property',
    keyId: 'k',
    requests: 3,
    stored: 1_200,
    repeated: 2,
    unchanged: 1,
    firstNumber: 7,
    lastNumber: 1_206,
    warnings: { bad_url: 1, too_long: 12 },
    warningPlaces: { bad_url: ['/payload/media/0/media_url'], too_long: ['/payload/a', '/payload/b'] },
    refused: 1,
    refusals: [],
  }

  it('says what became of the events, and which warnings were most frequent (PROTOCOL §14.2)', () => {
    assert.equal(outcomeWords(minute), '1,200 stored (#7 – #1,206), 2 repeated, 1 unchanged')
    assert.equal(
      outcomeWords({ ...minute, stored: 1, repeated: 0, unchanged: 0, lastNumber: 7 }),
      '1 stored (#7)',
    )
    assert.equal(
      outcomeWords({ ...minute, stored: 0, repeated: 0, unchanged: 0, firstNumber: null }),
      'nothing stored',
    )
    assert.equal(warningWords(minute), 'too_long 12, bad_url 1')
    assert.deepEqual(warningPointerLines(minute), [
      'too_long: /payload/a, /payload/b',
      'bad_url: /payload/media/0/media_url',
    ])
    assert.deepEqual(warningPointerLines({ ...minute, warnings: {}, warningPlaces: {} }), [])
  })

  it('says where a refused request was wrong (PROTOCOL §14.2)', () => {
    const fault = (pointer: string) => ({ pointer, code: 'wrong_type' })
    const refusal = {
      at: minute.at,
      requestId: 'r',
      code: 'invalid_body',
      faults: [fault('/0/payload'), fault('')],
    }
    assert.equal(
      refusalWords(refusal),
      'invalid_body: wrong_type at /0/payload; wrong_type at the whole body',
    )
    assert.equal(refusalWords({ ...refusal, faults: [] }), 'invalid_body')
    const many = { ...refusal, faults: Array.from({ length: 10 }, (_, n) => fault(`/${n}`)) }
    assert.match(refusalWords(many), /; 7 further faults$/)
  })
})

describe('the keys to choose publications by', () => {
  const key = (keyId: string, label: string, ...scopes: readonly GrantScope[]): Key => ({
    keyId,
    label,
    operator: false,
    scopes: [],
    grants: [{ tenantId: 't', scopes }],
    networks: [],
    rate: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    replaces: null,
  })
  const keys = [key('aaaaaa', 'nightly', 'property:publish'), key('bbbbbb', 'website', 'property:read')]

  it('are those that publish, by their labels, and whichever key is in the address (PROTOCOL §14.2)', () => {
    assert.deepEqual(publishingKeys(keys, undefined), [['aaaaaa', 'nightly']])
    assert.deepEqual(publishingKeys(keys, 'aaaaaa'), [['aaaaaa', 'nightly']])
    assert.deepEqual(publishingKeys(undefined, 'cccccc'), [['cccccc', 'pev_cccc…']])
    assert.deepEqual(publishingKeys(keys, 'bbbbbb').at(-1), ['bbbbbb', 'website'])
    assert.equal(keyName('dddddd', [key('dddddd', ' \u202E ')]), 'pev_dddd…')
  })
})

describe('a row of the audit', () => {
  it('gives its details in words, and leaves out those that say nothing (PROTOCOL §12.6)', () => {
    assert.equal(
      detailWords(
        {
          operator: false,
          scopes: ['property:read', 'contact:read'],
          expiresMs: null,
          revoked: true,
          rate: { perSecond: 1 },
        },
        nowMs,
      ),
      'scopes property:read, contact:read; revoked; rate {"perSecond":1}',
    )
    assert.match(detailWords({ endsMs: nowMs }, nowMs), /^ends 1 Mar \d\d:\d\d:00$/)
    for (const nothing of [null, undefined, 'x', 3]) assert.equal(detailWords(nothing, nowMs), '')
  })

  it('says who acted, without a name if none is known (PROTOCOL §12.6)', () => {
    assert.deepEqual(
      [
        actorWords('key:7Hq2', null),
        actorWords('cli:x1', null),
        actorWords('service', null),
        actorWords('key:x', 'Ada'),
      ],
      ['key 7Hq2', 'command line x1', 'the service', 'Ada'],
    )
  })

  it('says actions in words, intervals as times, and the label of a key instead of its id (PROTOCOL §12.6)', () => {
    assert.equal(actionWords('interval.expected'), 'Interval expected')
    assert.equal(actionWords('session.begun'), 'Session started')
    assert.equal(detailWords({ of: 'consumer', ms: 600_000 }, nowMs), 'of a consumer; every 10 min')
    assert.equal(detailWords({ by: 'pasted_key' }, nowMs), 'by pasted key')
    assert.equal(
      detailWords({ feed: 'contact', of: 'subject', reason: 'data_subject_request', rows: 1_234 }, nowMs),
      'feed contact; of all its events; reason data subject request; rows 1,234',
    )
    const labels = labelsOf([{ keyId: '7Hq2', label: 'website' }])
    assert.equal(actorWords('key:7Hq2', null, labels), 'website')
    assert.equal(labels.get('of nobody'), undefined)
  })
})

describe('the system', () => {
  it('shows what is wrong first, and values of any kind (PROTOCOL §12.10)', () => {
    const finding = (check: string, status: 'ok' | 'warn' | 'fail') => ({
      check,
      status,
      detail: '',
      remedy: null,
    })
    const sorted = findingsFirst([
      finding('a', 'ok'),
      finding('b', 'warn'),
      finding('c', 'fail'),
      finding('d', 'ok'),
    ])
    assert.equal(sorted.map(({ check }) => check).join(''), 'cbad')
    assert.deepEqual(['x', null, '', 8_080, false, ['a', 'b'], '<b>\u202Ex'].map(settingText), [
      'x',
      '–',
      '–',
      '8080',
      'false',
      '["a","b"]',
      '<b> x',
    ])
  })
})
