/** What a repeat of an event's id has to have in common with the event (D14), and whether a payload is the same by value. */
import { sha256 } from '../../runtime/hashes.ts'
import { sameJson, sameBytes } from './same-json.ts'
import type { DraftContent, EventDraft } from './append-batch.ts'

/** What was sent around a payload or a removal. */
type SentAround = Pick<EventDraft, 'subjectId' | 'eventTypeShortCode' | 'transactionId' | 'category'>

/**
 * The payload's own hash represents its text, so that the text is hashed once. The payload names its subject; a removal does not, so the
 * subject is added.
 */
export function contentHashOf(
  content:
    | Extract<DraftContent, { kind: 'removal' }>
    | { readonly kind: 'payload'; readonly hash: Uint8Array },
  { subjectId, eventTypeShortCode, transactionId, category }: SentAround,
): Uint8Array {
  const what =
    content.kind === 'payload'
      ? Buffer.from(content.hash).toString('hex')
      : `remove ${subjectId} ${content.reason ?? ''}`
  return sha256(JSON.stringify([what, eventTypeShortCode ?? '', transactionId ?? '', category ?? '']))
}

/**
 * Whether the draft repeats the event that was stored with this content hash (`null`: nothing repeats it). `payload` is the stored one: if
 * it is reduced, its hash leads to no content hash, and only the text that was sent is the same.
 */
export function isRepeat(draft: EventDraft, contentHash: Uint8Array | null, payload: () => string): boolean {
  if (contentHash === null) return false
  if (sameBytes(contentHash, draft.contentHash)) return true
  const { content } = draft
  if (content.kind !== 'payload') return false
  const stored = payload()
  const asStored = contentHashOf({ kind: 'payload', hash: sha256(stored) }, draft)
  return sameBytes(asStored, contentHash) && sameJson(content.text, stored)
}

/** The content hash of a draft that is unchanged: of the spelling that is stored, which any other is compared with. */
export function hashBeside(
  draft: EventDraft,
  { payloadHash }: { readonly payloadHash: Uint8Array | null },
): Uint8Array {
  const { content, contentHash } = draft
  if (content.kind !== 'payload' || payloadHash === null || sameBytes(content.hash, payloadHash))
    return contentHash
  return contentHashOf({ kind: 'payload', hash: payloadHash }, draft)
}

/** Whether the text is the payload with this hash in another spelling. `payload` is the stored one, unless it is reduced. */
export function isRespelled(text: string, hash: Uint8Array, payload: () => string): boolean {
  const stored = payload()
  return sameBytes(sha256(stored), hash) && sameJson(text, stored)
}
