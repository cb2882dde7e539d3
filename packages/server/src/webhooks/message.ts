/** The messages that webhooks carry, as Standard Webhooks has them, and those of CloudEvents 1.0 in its structured form. */
import type { FeedName } from '@property-events/protocol'
import { parseEventJson } from '../events/event-json.ts'
import { changesText } from '../reading/changes-text.ts'
import type { EndpointSettings, MessageFormat, Notice } from './endpoint.ts'
import { signature } from './secret.ts'

/** An event in its feed. */
export interface DeliveredEvent {
  readonly feed: FeedName
  readonly epoch: string
  readonly sequenceNumber: number
  readonly subjectId: string
  /** As the key reads it in the feed: a JSON object, UTF-8. */
  readonly json: Uint8Array
}

/** How an endpoint wants its events. */
export interface EventForm extends Pick<EndpointSettings, 'payload' | 'format'> {
  /** What the receiver acknowledged last of this property, or that it was nothing; `undefined`: changes are not wanted. */
  readonly changesSince: Pick<DeliveredEvent, 'sequenceNumber' | 'json'> | 'nothing' | undefined
}

/** What is posted. Signed anew with each try (`messageHeaders`). */
export interface Message {
  readonly id: string
  readonly contentType: string
  readonly body: Uint8Array
  /** Of an event: when it was committed, in milliseconds since 1970. */
  readonly committedMs?: number | undefined
}

/** The same whenever the event is sent, also after a crash and by another node. */
export function messageId({
  epoch,
  sequenceNumber,
}: Pick<DeliveredEvent, 'epoch' | 'sequenceNumber'>): string {
  return `msg_${epoch}_${sequenceNumber}`
}

/** The event byte for byte as the feed has it, or without its payload. `atMs`: when it is sent. */
export function eventMessage(event: DeliveredEvent, form: EventForm, atMs: number): Message {
  const { feed, epoch, subjectId: subject, json } = event
  const { payload, format, changesSince } = form
  const isThin = payload === 'thin'
  const head = { id: messageId(event), type: `${feed}.event`, subject }
  const pieces = [`{"feed":"${feed}","epoch":"${epoch}","event":`, isThin ? thinned(json, subject) : json]
  // They are made of the payload.
  if (changesSince !== undefined && !isThin) pieces.push(`,${changesMembers(json, changesSince)}`)
  const data = bytesOf([...pieces, '}'])
  if (format === 'event') return plainMessage(head, data, atMs)
  const { tenantId, createdDate } = parseEventJson(textOf(json))
  return cloudEvent({ ...head, source: sourceOf(tenantId, feed), time: `${createdDate}Z` }, data)
}

/** Before the first event of a new epoch: what was taken over of an earlier one is replaced as its properties come. */
export interface EpochChange {
  readonly tenantId: string
  readonly feed: FeedName
  readonly epoch: string
  readonly previousEpoch: string
  /** Events of the new epoch follow after this number. */
  readonly after: number
}

export function epochMessage(change: EpochChange, format: MessageFormat, atMs: number): Message {
  const { tenantId, ...data } = change
  const head = { id: messageId({ epoch: change.epoch, sequenceNumber: 0 }), type: 'feed.epochChanged' }
  return messageOf({ ...head, tenantId, feed: change.feed }, data, format, atMs)
}

/** Whom a notice is about. */
export interface NoticeSubject extends Pick<EndpointSettings, 'label' | 'url' | 'feed'> {
  readonly tenantId: string
}

/** For endpoints of `operations`: what happened to another endpoint. */
export function noticeMessage(
  { noticeNo, kind, endpointId, reason, atMs: sinceMs }: Notice,
  { tenantId, feed, label, url }: NoticeSubject,
  format: MessageFormat,
  atMs: number,
): Message {
  const since = new Date(sinceMs).toISOString()
  const head = { id: `msg_notice_${noticeNo}`, type: kind, subject: endpointId, time: since, tenantId, feed }
  return messageOf(head, { endpointId, label, url, reason: reason ?? null, since }, format, atMs)
}

/** What a test sends; `testId`: another each time. */
export function testMessage(
  { testId, endpointId }: { readonly testId: string; readonly endpointId: string },
  { tenantId, feed }: Pick<NoticeSubject, 'tenantId' | 'feed'>,
  format: MessageFormat,
  atMs: number,
): Message {
  const head = { id: `msg_test_${testId}`, type: 'webhook.test', subject: endpointId, tenantId, feed }
  return messageOf(head, { endpointId, feed }, format, atMs)
}

/** The headers of a try. Each is signed anew, so a receiver may refuse what is old. */
export function messageHeaders(
  { id, contentType, body }: Message,
  secrets: readonly string[],
  atMs: number,
): Readonly<Record<string, string>> {
  const seconds = Math.floor(atMs / 1_000)
  return {
    'content-type': contentType,
    'user-agent': 'property-events',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signature(secrets, { id, seconds, body }),
  }
}

interface MessageHead {
  readonly id: string
  readonly type: string
  readonly subject?: string
  /** When it happened, which no further try changes. */
  readonly time?: string
}

function messageOf(
  { tenantId, feed, ...head }: MessageHead & { readonly tenantId: string; readonly feed: FeedName },
  data: object,
  format: MessageFormat,
  atMs: number,
): Message {
  const bytes = Buffer.from(JSON.stringify(data))
  if (format === 'event') return plainMessage(head, bytes, atMs)
  return cloudEvent({ ...head, source: sourceOf(tenantId, feed) }, bytes)
}

function plainMessage({ id, type }: MessageHead, data: Uint8Array, atMs: number): Message {
  const timestamp = new Date(atMs).toISOString()
  const body = bytesOf([`{"type":"${type}","timestamp":"${timestamp}","data":`, data, '}'])
  return { id, contentType: 'application/json; charset=utf-8', body }
}

function cloudEvent(attributes: MessageHead & { readonly source: string }, data: Uint8Array): Message {
  const all = { specversion: '1.0', ...attributes, datacontenttype: 'application/json' }
  const body = bytesOf([`${JSON.stringify(all).slice(0, -1)},"data":`, data, '}'])
  return { id: attributes.id, contentType: 'application/cloudevents+json; charset=utf-8', body }
}

/** With the id it names a message among those of all tenants. */
function sourceOf(tenantId: string, feed: FeedName): string {
  return `/tenants/${tenantId}/${feed}`
}

function thinned(json: Uint8Array, subject: string): string {
  const { payload: _, ...members } = parseEventJson(textOf(json))
  return JSON.stringify({ ...members, subject })
}

function changesMembers(json: Uint8Array, since: Exclude<EventForm['changesSince'], undefined>): string {
  const number = since === 'nothing' ? null : since.sequenceNumber
  const before = since === 'nothing' ? undefined : payloadOf(since.json)
  return `"changesSince":${number},${changesText(before, payloadOf(json))}`
}

function payloadOf(json: Uint8Array): string {
  return parseEventJson(textOf(json)).payload
}

function textOf(json: Uint8Array): string {
  return Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString()
}

function bytesOf(pieces: readonly (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)))
}
