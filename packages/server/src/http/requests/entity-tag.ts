/** Entity tags: made from whatever determines an answer's bytes, compared as RFC 9110 §13.1.2 says. */
import { hash } from 'node:crypto'
import type { ContentCoding } from '../answer-body.ts'

/** A tag from the bytes alone, for content without a name of its own: 128 bits of SHA-256. */
export function contentTag(bytes: Uint8Array, coding: ContentCoding): string {
  return quotedTag(hash('sha256', bytes, 'base64url').slice(0, 22), coding)
}

/**
 * Weak if the answer is compressed: the content is the same under one tag, but a page is compressed differently before and after it is
 * ready-made, and a strong tag would promise equal bytes (RFC 9110 §8.8.1).
 */
export function quotedTag(tag: string, coding: ContentCoding): string {
  return coding === 'identity' ? `"${tag}"` : `W/"${tag}-${coding}"`
}

/** Whether an `If-None-Match` (a list, or `*`) names the tag. It treats weak and strong tags alike (RFC 9110 §13.1.2). */
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
