/** Entity tags: made from what determines an answer's bytes, compared as RFC 9110 §13.1.2 says. */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { LocatedPage, PageRequest } from '../../feed/list.ts'
import type { ReaderForm } from '../../feed/reader-form.ts'
import { payloadState } from '../../storage/storage.ts'
import type { Head } from '../../storage/storage.ts'
import type { ContentCoding } from '../../pages/index.ts'

/**
 * A page's tag, known before an event is read: full pages never change, but their totals do (D4), so the count is in it;
 * the state of the payloads covers erasure and retention (D17), the epoch a restored store (D13), the coding what is sent. The rest of what
 * determines the bytes is in the checksum: a tag is compared with those of the same address only.
 */
export function pageTag(request: PageRequest, located: LocatedPage, coding: ContentCoding): string {
  const { key, view, from, to, page, pageSize } = request
  const { head, availableCount, range } = located
  const window = from === undefined && to === undefined ? '' : `${from ?? ''}-${to ?? ''}`
  const asked = crc32(`${key.tenantId} ${key.feed} ${view} ${window} ${page} ${pageSize}`).toString(36)
  const tag = `${head.epoch}-${payloadState(head)}-${availableCount}-${asked}`
  return quoted(withForm(tag, range.form), coding)
}

/** The tag of a page of current events: the moment says which there are, and how many. */
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
  return quoted(withForm(tag, range.form), coding)
}

/** The same event has other bytes in another form. */
function withForm(tag: string, form: ReaderForm | undefined): string {
  return form === undefined ? tag : `${tag}-${form.name}`
}

/**
 * An event's tag: its id and what its bytes may change with. The state of the payloads covers one that is reduced (D17). The epoch is
 * each feed's own, so it covers the tenant, whose event with this id another tenant's is not (P10), and a restored store, in
 * which the id may come to stand for another event (D13). A checksum of 4 kB would take 1 µs.
 */
export function eventTag(
  eventId: string,
  head: Pick<Head, 'epoch' | 'revision' | 'thinned'>,
  coding: ContentCoding,
  form?: ReaderForm,
): string {
  return quoted(withForm(`${eventId}-${head.epoch}-${payloadState(head)}`, form), coding)
}

/** A tag from the bytes alone, for what has no name of its own: 128 bits of SHA-256. */
export function contentTag(bytes: Uint8Array, coding: ContentCoding): string {
  return quoted(hash('sha256', bytes, 'base64url').slice(0, 22), coding)
}

/**
 * Weak where the answer is compressed: what it holds is the same under one tag, but a page is compressed otherwise before and
 * after it is ready-made, and a strong tag would promise the same bytes (RFC 9110 §8.8.1).
 */
function quoted(tag: string, coding: ContentCoding): string {
  return coding === 'identity' ? `"${tag}"` : `W/"${tag}-${coding}"`
}

/** Whether an `If-None-Match` names the tag: a list, `*`. Weak tags and strong ones are the same to it (RFC 9110 §13.1.2). */
export function tagMatches(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === tag) return true
  if (ifNoneMatch.trim() === '*') return true
  const wanted = opaque(tag)
  return ifNoneMatch.split(',').some((candidate) => opaque(candidate.trim()) === wanted)
}

function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag
}
