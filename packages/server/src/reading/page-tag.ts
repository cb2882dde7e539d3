/** Entity tags of pages and events, made from whatever determines their bytes. */
import { crc32 } from 'node:zlib'
import { payloadState } from '../events/append/reduced-event.ts'
import type { Head } from '../events/event-log.ts'
import type { ContentCoding } from '../http/answer-body.ts'
import { quotedTag } from '../http/requests/entity-tag.ts'
import type { LocatedPage, PageRequest } from './list.ts'
import type { Representation } from './representation/representation.ts'

/**
 * A page's tag, known before an event is read. Full pages never change, but their totals do (D4), so it has the count; the state of the
 * payloads covers erasure and retention (D17), the epoch a restored store (D13), the coding the form that is sent. The checksum covers
 * the rest of what determines the bytes: a tag is compared only with tags of the same address.
 */
export function pageTag(request: PageRequest, located: LocatedPage, coding: ContentCoding): string {
  const { key, view, from, to, page, pageSize } = request
  const { head, availableCount, range } = located
  const window = from === undefined && to === undefined ? '' : `${from ?? ''}-${to ?? ''}`
  const asked = crc32(`${key.tenantId} ${key.feed} ${view} ${window} ${page} ${pageSize}`).toString(36)
  const tag = `${head.epoch}-${payloadState(head)}-${availableCount}-${asked}`
  return quotedTag(withForm(tag, range.form), coding)
}

/** The tag of a page of current events: the moment determines which events there are, and how many. */
export function currentTag(
  request: PageRequest,
  located: LocatedPage,
  asOf: number,
  coding: ContentCoding,
): string {
  const { key, view, page, pageSize } = request
  const { head, range } = located
  const asked = crc32(`${key.tenantId} ${key.feed} ${view} current ${page} ${pageSize}`).toString(36)
  const tag = `${head.epoch}-${payloadState(head)}-c${asOf}-${asked}`
  return quotedTag(withForm(tag, range.form), coding)
}

/** The same event has other bytes in another form. */
function withForm(tag: string, form: Representation | undefined): string {
  return form === undefined ? tag : `${tag}-${form.name}`
}

/**
 * An event's tag: its id and everything its bytes may change with. The state of the payloads covers a reduced event (D17). The epoch is
 * each feed's own, so it covers the tenant, because another tenant's event with this id is another event (P10), and a restored store, in
 * which the id may come to mean another event (D13). A checksum of 4 kB would take 1 µs.
 */
export function eventTag(
  eventId: string,
  head: Pick<Head, 'epoch' | 'revision' | 'thinned'>,
  coding: ContentCoding,
  form?: Representation,
): string {
  return quotedTag(withForm(`${eventId}-${head.epoch}-${payloadState(head)}`, form), coding)
}
