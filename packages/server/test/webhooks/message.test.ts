/** What a receiver is sent: the event as the feed has it, without its payload, with its changes, and as a CloudEvent that a foreign library reads. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HTTP } from 'cloudevents'
import type { CloudEvent } from 'cloudevents'
import { Webhook } from 'standardwebhooks'
import {
  epochMessage,
  eventMessage,
  messageHeaders,
  noticeMessage,
  testMessage,
} from '../../src/webhooks/message.ts'
import type { DeliveredEvent, EventForm, Message } from '../../src/webhooks/message.ts'
import { newSecret } from '../../src/webhooks/secret.ts'

const tenantId = '7d1c3a54-5c1e-4c4f-8e0b-6a1f0e9b2c33'
const subjectId = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'
const epoch = '0194b3e0-0000-7000-8000-000000000001'
const plain: EventForm = { payload: 'full', format: 'event', changesSince: undefined }
const atMs = Date.UTC(2026, 0, 31, 9, 30, 1, 250)

function eventOf(payload: string, sequenceNumber = 42): DeliveredEvent {
  const members = {
    tenantId,
    sequenceNumber,
    eventType: 0,
    eventTypeShortCode: 'PropertyPublished',
    payload,
    transactionId: subjectId,
    id: '0194b3e0-0000-7000-8000-00000000aaaa',
    createdDate: '2026-01-31T09:30:00.1234567',
  }
  return {
    feed: 'property',
    epoch,
    sequenceNumber,
    subjectId,
    json: Buffer.from(JSON.stringify(members)),
  }
}

const home = (price: number): string =>
  JSON.stringify({ agent_ref: subjectId, price, caption: 'Tŷ â gardd – £450,000 🏡', published: true })

interface Body {
  readonly type: string
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>> & { readonly event: Readonly<Record<string, unknown>> }
}

function bodyOf({ body }: Message): Body {
  return JSON.parse(Buffer.from(body).toString()) as Body
}

/** As a receiver with that library does. */
function received(message: Message): CloudEvent<Body['data']> {
  const headers = { ...messageHeaders(message, [newSecret()], atMs) }
  const event = HTTP.toEvent<Body['data']>({ headers, body: Buffer.from(message.body).toString() })
  assert.ok(!Array.isArray(event))
  const one = event as CloudEvent<Body['data']>
  assert.equal(one.validate(), true)
  return one
}

describe('the message of an event', () => {
  it('has the event byte for byte as the feed has it, however that is written', () => {
    // An escape and a blank that JSON.stringify would not write.
    const json = Buffer.from('{ "payload":"{\\"caption\\":\\"T\\u0177 \\u00a3 – 🏡\\"}","sequenceNumber":42}')
    const { body, id, contentType } = eventMessage({ ...eventOf(home(1)), json }, plain, atMs)
    assert.equal(id, `msg_${epoch}_42`)
    assert.equal(contentType, 'application/json; charset=utf-8')
    assert.equal(
      Buffer.from(body).toString(),
      `{"type":"property.event","timestamp":"2026-01-31T09:30:01.250Z","data":{"feed":"property","epoch":"${epoch}","event":${json.toString()}}}`,
    )
  })

  it('is the same message under the same id when it is sent again, signed anew (W3)', () => {
    const secret = newSecret()
    const seconds = [0, 30_000, 86_400_000].map((laterMs) => {
      const message = eventMessage(eventOf(home(1)), plain, Date.now() - laterMs)
      assert.equal(message.id, `msg_${epoch}_42`)
      const headers = messageHeaders(message, [secret], Date.now())
      new Webhook(secret).verify(Buffer.from(message.body), { ...headers })
      return bodyOf(message).timestamp
    })
    assert.equal(new Set(seconds).size, 3)
  })

  it('has the subject and no payload where it is thin, nor anything made of one', () => {
    const changesSince = { sequenceNumber: 40, json: eventOf(home(450_000), 40).json }
    for (const form of [plain, { ...plain, changesSince }, { ...plain, format: 'cloudevents' } as const]) {
      const message = eventMessage(eventOf(home(440_000)), { ...form, payload: 'thin' }, atMs)
      const text = Buffer.from(message.body).toString()
      assert.doesNotMatch(text, /gardd|440000|450000|payload/)
      const { subject, sequenceNumber, eventTypeShortCode } = bodyOf(message).data.event
      assert.deepEqual(
        { subject, sequenceNumber, eventTypeShortCode },
        { subject: subjectId, sequenceNumber: 42, eventTypeShortCode: 'PropertyPublished' },
      )
    }
  })

  it('says what has changed since the version that was acknowledged last', () => {
    const changesSince = { sequenceNumber: 40, json: eventOf(home(450_000), 40).json }
    const { data } = bodyOf(eventMessage(eventOf(home(440_000)), { ...plain, changesSince }, atMs))
    assert.equal(data['changesSince'], 40)
    assert.deepEqual(data['changes'], [{ pointer: '/price', from: 450_000, to: 440_000 }])
    assert.deepEqual(data.event, JSON.parse(Buffer.from(eventOf(home(440_000)).json).toString()))
  })

  it('says why there are no changes: nothing was acknowledged, or the earlier version is erased', () => {
    const first = bodyOf(eventMessage(eventOf(home(1)), { ...plain, changesSince: 'nothing' }, atMs)).data
    assert.deepEqual(
      [first['changesSince'], first['changes'], first['changesAbsent']],
      [null, null, 'first_version'],
    )
    const erased = eventOf(JSON.stringify({ agent_ref: subjectId, published: false, erased: true }), 40)
    const after = bodyOf(eventMessage(eventOf(home(1)), { ...plain, changesSince: erased }, atMs)).data
    assert.deepEqual([after['changesSince'], after['changes'], after['changesAbsent']], [40, null, 'erased'])
  })

  it('lists 200 changes at most, and says how many more there are', () => {
    const many = (value: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`nodwedd${n}`, value])))
    const changesSince = { sequenceNumber: 40, json: eventOf(many(1)).json }
    const { data } = bodyOf(eventMessage(eventOf(many(2)), { ...plain, changesSince }, atMs))
    assert.ok(Array.isArray(data['changes']))
    assert.equal(data['changes'].length, 200)
    assert.equal(data['moreChanges'], 50)
  })
})

describe('a CloudEvent', () => {
  const form: EventForm = { ...plain, format: 'cloudevents' }

  it('is read by a library of CloudEvents, with the event in its data', () => {
    const message = eventMessage(eventOf(home(450_000)), form, atMs)
    const { id, type, source, subject, time, specversion, datacontenttype, data } = received(message)
    assert.deepEqual(
      { id, type, source, subject, specversion, datacontenttype },
      {
        id: `msg_${epoch}_42`,
        type: 'property.event',
        source: `/tenants/${tenantId}/property`,
        subject: subjectId,
        specversion: '1.0',
        datacontenttype: 'application/json',
      },
    )
    assert.equal(Date.parse(time ?? ''), Date.UTC(2026, 0, 31, 9, 30, 0, 123))
    const json = Buffer.from(eventOf(home(450_000)).json).toString()
    assert.deepEqual(data, { feed: 'property', epoch, event: JSON.parse(json) as unknown })
    assert.ok(Buffer.from(message.body).toString().includes(`"event":${json}`), 'byte for byte')
  })

  it('is the same to the byte when it is sent again: its time is that of the event (W3)', () => {
    const bodies = [atMs, atMs + 86_400_000].map(
      (sentMs) => eventMessage(eventOf(home(1)), form, sentMs).body,
    )
    assert.deepEqual(bodies[0], bodies[1])
  })

  it('carries everything else that is sent: a new epoch, a notice, a test', () => {
    for (const message of others('cloudevents')) {
      const event = received(message)
      assert.equal(event.id, message.id)
      assert.equal(event.source, `/tenants/${tenantId}/property`)
    }
  })
})

function others(format: EventForm['format']): readonly Message[] {
  const endpointId = '0194b3e0-0000-7000-8000-00000000eeee'
  const about = { tenantId, feed: 'property', label: 'Gwefan – £ 🏡', url: 'https://example.com/' } as const
  const notice = { noticeNo: 7, kind: 'webhook.failing', endpointId, atMs, reason: undefined } as const
  const previousEpoch = '0194b3e0-0000-7000-8000-000000000000'
  const change = { tenantId, feed: 'property', epoch, previousEpoch, after: 40 } as const
  return [
    epochMessage(change, format, atMs),
    noticeMessage(notice, about, format, atMs),
    testMessage({ testId: 'a1', endpointId }, about, format, atMs),
  ]
}

describe('a message that is no event', () => {
  const [changed, failing, test] = others('event').map((message) => ({
    id: message.id,
    ...bodyOf(message),
  }))

  it('says that a new epoch began, and after which number it goes on', () => {
    const previousEpoch = '0194b3e0-0000-7000-8000-000000000000'
    assert.deepEqual(changed, {
      id: `msg_${epoch}_0`,
      type: 'feed.epochChanged',
      timestamp: '2026-01-31T09:30:01.250Z',
      data: { feed: 'property', epoch, previousEpoch, after: 40 },
    })
  })

  it('says what happened to another endpoint, and since when', () => {
    assert.deepEqual(failing, {
      id: 'msg_notice_7',
      type: 'webhook.failing',
      timestamp: '2026-01-31T09:30:01.250Z',
      data: {
        endpointId: '0194b3e0-0000-7000-8000-00000000eeee',
        label: 'Gwefan – £ 🏡',
        url: 'https://example.com/',
        reason: null,
        since: '2026-01-31T09:30:01.250Z',
      },
    })
  })

  it('is a test, which names its endpoint', () => {
    assert.equal(test?.type, 'webhook.test')
    assert.deepEqual(test.data, {
      endpointId: '0194b3e0-0000-7000-8000-00000000eeee',
      feed: 'property',
    })
  })
})
