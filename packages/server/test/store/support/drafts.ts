/** Drafts as a publisher's request would become, short enough to write many of them. */
import { createHash } from 'node:crypto'
import type { Category, FeedName, Ticks } from '@property-events/protocol'
import { contentHashOf } from '../../../src/events/append/content-hash.ts'
import type {
  AppendBatch,
  EventDraft,
  PayloadContent,
  RemovalContent,
} from '../../../src/events/append/append-batch.ts'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import { updateDateHashOf } from '../../../src/events/append/subject-identity.ts'
import { uuidV5 } from '../../../src/runtime/hashes.ts'

const namespace = '6f9b1f9e-6f0e-4b0a-9d4e-3a6d6e1c2b11'

/** The same name gives the same UUID in every run. */
export function uuid(name: string): string {
  return uuidV5(namespace, name)
}

export const tenantA = uuid('tenant A')
export const tenantB = uuid('tenant B')

export function feedKey(tenantId: string = tenantA, feed: FeedName = 'property'): FeedKey {
  return { tenantId, feed }
}

export interface DraftWords {
  /** Name of the property or contact. */
  readonly subject: string
  /** Name of an id the publisher chose; left out, one is made. */
  readonly id?: string
  readonly published?: boolean | undefined
  /** Tells payloads of one subject apart. */
  readonly text?: string
  /** The whole payload, in a spelling of its own. */
  readonly json?: string
  readonly branch?: string
  readonly implied?: Category
  readonly priceLooksLike?: Category
  readonly category?: Category
  readonly type?: string
  readonly transactionId?: string
  /** The subject's UUID as this draft writes it; lower case if left out. */
  readonly spelling?: string
  readonly updateDate?: string
  readonly requestedCreated?: Ticks
}

let madeIds = 0

/** A draft with a payload. `published` is true unless given; `published: undefined` leaves it out. */
export function draft(words: DraftWords): EventDraft {
  const published = 'published' in words ? words.published : true
  const subjectId = uuid(words.subject)
  const made = JSON.stringify({
    agent_ref: words.spelling ?? subjectId,
    ...(published === undefined ? {} : { published }),
    ...(words.branch === undefined ? {} : { branch_id: words.branch }),
    text: words.text ?? '',
    ...(words.updateDate === undefined ? {} : { update_date: words.updateDate }),
  })
  const text = words.json ?? made
  const content = {
    kind: 'payload' as const,
    text,
    hash: sha256(text),
    published,
    branch: words.branch,
    impliedCategory: words.implied,
    priceLooksLike: words.priceLooksLike,
    updateDateHash: updateDateHashOf(words.updateDate),
  }
  return framed(words, content)
}

/** A draft that removes its subject (D26). */
export function removal(words: DraftWords, reason?: string): EventDraft {
  const content = {
    kind: 'removal' as const,
    reason: reason === undefined ? undefined : JSON.stringify(reason),
  }
  return framed(words, content)
}

function framed(words: DraftWords, content: PayloadContent | RemovalContent): EventDraft {
  madeIds += 1
  const { id, subject, type: eventTypeShortCode, category, transactionId, requestedCreated } = words
  const subjectId = uuid(subject)
  return {
    id: uuid(id ?? `made ${madeIds}`),
    idGiven: id !== undefined,
    subjectId,
    subjectSpelling: words.spelling ?? subjectId,
    transactionId,
    content,
    eventTypeShortCode,
    category,
    contentHash: contentHashOf(content, { subjectId, eventTypeShortCode, transactionId, category }),
    ...(requestedCreated === undefined ? {} : { requestedCreated }),
  }
}

export function batch(
  drafts: readonly EventDraft[],
  options: { readonly key?: FeedKey; readonly unchanged?: AppendBatch['unchanged'] } = {},
): AppendBatch {
  return { key: options.key ?? feedKey(), drafts, unchanged: options.unchanged ?? 'store' }
}

function sha256(text: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(text).digest())
}
