/** What a draft means beside its subject's previous state: published or not, type, category, unchanged (D12, D23). */
import { meaningOf, standardCode } from '@property-events/protocol/plain'
import type { Category, FeedName } from '@property-events/protocol'
import { isRespelled, sameBytes } from './content-hash.ts'
import type { DraftContent, EventDraft } from './append-batch.ts'

/** A subject after its latest event. */
export interface SubjectState {
  readonly code: string
  readonly published: boolean
  readonly category: Category | null
  readonly branch: string | null
  /** SHA-256 of the latest payload; `null` when it was reduced. */
  readonly payloadHash: Uint8Array | null
  /** The subject's UUID as its first event spells it (D15); `''` where that is lower case. */
  readonly spelling: string
  /**
   * The short code that the latest of a restricted contact would be shown with (D17); `null`: it is not restricted.
   */
  readonly keptCode: string | null
  /** Of the latest payload's `update_date` (`updateDateHashOf`); `null` where it has none. */
  readonly updateDateHash: Uint8Array | null
}

/** What a draft says about its subject, before it is known how its subject is spelled. */
export type StateAfter = Omit<SubjectState, 'spelling' | 'updateDateHash' | 'keptCode'>

export function stateAfter(feed: FeedName, draft: EventDraft, before: SubjectState | undefined): StateAfter {
  const { content } = draft
  const published = publishedAfter(feed, draft, before)
  return {
    code: draft.eventTypeShortCode ?? derivedCode(feed, published, before?.published ?? false),
    published,
    category: feed === 'property' ? categoryOf(draft, before) : null,
    branch: branchAfter(feed, content, before),
    payloadHash: content.kind === 'payload' ? content.hash : null,
  }
}

/** A restricted contact as it would be without the restriction, so that what is published of it means what it would. */
export function withoutRestriction<State extends SubjectState>(feed: FeedName, state: State): State {
  const { keptCode } = state
  if (keptCode === null) return state
  return { ...state, code: keptCode, published: meaningOf(feed, keptCode) !== 'gone', keptCode: null }
}

function branchAfter(feed: FeedName, content: DraftContent, before: SubjectState | undefined): string | null {
  if (content.kind === 'payload') return content.branch ?? null
  if (content.kind === 'moved') return content.to
  // Readers of the branch alone have to hear of it (docs/decisions/0042); contacts have none.
  if (content.kind === 'erased' && feed === 'contact') return null
  return before?.branch ?? null
}

/** A named type decides, because consumers act on it; otherwise the payload's own word does. Contacts have no such word. */
function publishedAfter(feed: FeedName, draft: EventDraft, before: SubjectState | undefined): boolean {
  if (draft.content.kind === 'moved') return before?.published ?? false
  if (draft.content.kind !== 'payload') return false
  const named = meaningOf(feed, draft.eventTypeShortCode)
  if (named === 'gone') return false
  if (feed === 'contact' || named === 'appeared') return true
  return draft.content.published ?? before?.published ?? true
}

export function derivedCode(feed: FeedName, published: boolean, publishedBefore: boolean): string {
  if (!published) return standardCode(feed, 'gone')
  return standardCode(feed, publishedBefore ? 'changed' : 'appeared')
}

function categoryOf(draft: EventDraft, before: SubjectState | undefined): Category {
  const implied = draft.content.kind === 'payload' ? draft.content.impliedCategory : undefined
  return draft.category ?? implied ?? before?.category ?? 'sales'
}

/** True when storing the draft would say nothing new about the subject (`unchanged=skip`). `payload`: its latest. */
export function isUnchanged(
  draft: EventDraft,
  before: StateAfter,
  after: StateAfter,
  payload: () => string,
): boolean {
  if (draft.content.kind === 'moved') return !before.published || before.branch !== draft.content.from
  if (draft.eventTypeShortCode !== undefined && draft.eventTypeShortCode !== before.code) return false
  // An equal payload still says something new after a named type has said the opposite of its `published`.
  if (after.category !== before.category || after.published !== before.published) return false
  if (draft.content.kind === 'erased') return false
  if (draft.content.kind === 'removal') return !before.published
  const { text, hash } = draft.content
  const { payloadHash } = before
  return payloadHash !== null && (sameBytes(hash, payloadHash) || isRespelled(text, payloadHash, payload))
}

/** Readers of one category or branch would keep the subject for ever unless told that it has gone (D23). */
export function leavesAView(before: StateAfter, after: StateAfter): boolean {
  if (!before.published) return false
  return before.category !== after.category || (before.branch !== null && before.branch !== after.branch)
}
