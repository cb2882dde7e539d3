/**
 * Batches and outcomes in the form in which they travel between a serving thread and the writer's: rows without member names, and all
 * hashes of a draft as one text. A structured clone writes every member's name, and gives each array of bytes memory of its own.
 */
import type { Category, FeedName } from '@property-events/protocol'
import type {
  AppendBatch,
  AppendOutcome,
  AppendedEvent,
  DraftContent,
  EventDraft,
} from '../../append/append-batch.ts'
import type { OnWriter } from '../../../sql/sqlite.ts'

export type PackedBatch = readonly [
  tenantId: string,
  feed: FeedName,
  unchanged: AppendBatch['unchanged'],
  branches: AppendBatch['branches'],
  drafts: readonly (PackedDraft | EventDraft)[],
]

/** A payload as publishers send it. Every other draft is rare, and travels as it is. */
type PackedDraft = readonly [
  id: string,
  idGiven: boolean,
  subjectId: string,
  subjectSpelling: string,
  transactionId: string | undefined,
  eventTypeShortCode: string | undefined,
  category: Category | undefined,
  text: string,
  published: boolean | undefined,
  branch: string | undefined,
  impliedCategory: Category | undefined,
  priceLooksLike: Category | undefined,
  /** One character for each byte: the content hash, the text's hash, and the hash of the `update_date` if it has one. */
  hashes: string,
]

export type PackedOutcome = readonly PackedEvent[] | Exclude<AppendOutcome, { kind: 'stored' }>

type PackedEvent = readonly [
  index: number,
  status: AppendedEvent['status'],
  id: string,
  eventType: number,
  eventTypeShortCode: string,
  transactionId: string,
  stored: string | undefined,
  sequenceNumber: number,
  remarks: AppendedEvent['remarks'],
]

const hashBytes = 32
const updateDateAt = 2 * hashBytes
const mostBytes = updateDateAt + 8
const scratch = Buffer.allocUnsafeSlow(mostBytes)

/** The writer's verb. */
export interface PackedAppend {
  append(batches: readonly PackedBatch[]): readonly PackedOutcome[]
}

/** Rejects as the writer does. */
export async function appendThrough(
  writer: OnWriter<PackedAppend>,
  batches: readonly AppendBatch[],
): Promise<readonly AppendOutcome[]> {
  return unpackOutcomes(await writer.append(packBatches(batches)))
}

function packBatches(batches: readonly AppendBatch[]): readonly PackedBatch[] {
  return batches.map(({ key: { tenantId, feed }, unchanged, branches, drafts }) => {
    return [tenantId, feed, unchanged, branches, drafts.map(packDraft)]
  })
}

function packDraft(draft: EventDraft): PackedDraft | EventDraft {
  const { content, contentHash, restriction, wishedCreated } = draft
  if (content.kind !== 'payload' || restriction !== undefined || wishedCreated !== undefined) return draft
  const { text, hash, published, branch, impliedCategory, priceLooksLike, updateDateHash } = content
  scratch.set(contentHash)
  scratch.set(hash, hashBytes)
  if (updateDateHash !== null) scratch.set(updateDateHash, updateDateAt)
  const { id, idGiven, subjectId, subjectSpelling, transactionId, eventTypeShortCode, category } = draft
  return [
    id,
    idGiven,
    subjectId,
    subjectSpelling,
    transactionId,
    eventTypeShortCode,
    category,
    text,
    published,
    branch,
    impliedCategory,
    priceLooksLike,
    scratch.toString('latin1', 0, updateDateHash === null ? updateDateAt : mostBytes),
  ]
}

export function unpackBatches(packed: readonly PackedBatch[]): readonly AppendBatch[] {
  return packed.map(([tenantId, feed, unchanged, branches, drafts]) => {
    return { key: { tenantId, feed }, unchanged, branches, drafts: drafts.map(unpackDraft) }
  })
}

function unpackDraft(packed: PackedDraft | EventDraft): EventDraft {
  if ('id' in packed) return packed
  const [id, idGiven, subjectId, subjectSpelling, transactionId, eventTypeShortCode, category, ...rest] =
    packed
  const [text, published, branch, impliedCategory, priceLooksLike, hashes] = rest
  const bytes = Buffer.from(hashes, 'latin1')
  const content: DraftContent = {
    kind: 'payload',
    text,
    hash: bytes.subarray(hashBytes, updateDateAt),
    published,
    branch,
    impliedCategory,
    priceLooksLike,
    updateDateHash: hashes.length > updateDateAt ? bytes.subarray(updateDateAt) : null,
  }
  return {
    id,
    idGiven,
    subjectId,
    subjectSpelling,
    transactionId,
    content,
    eventTypeShortCode,
    category,
    contentHash: bytes.subarray(0, hashBytes),
  }
}

export function packOutcomes(outcomes: readonly AppendOutcome[]): readonly PackedOutcome[] {
  return outcomes.map((outcome) => (outcome.kind === 'stored' ? outcome.events.map(packEvent) : outcome))
}

function packEvent(event: AppendedEvent): PackedEvent {
  const { index, status, id, eventType, eventTypeShortCode, transactionId, stored, remarks } = event
  const place = [stored?.createdDate, stored?.sequenceNumber ?? 0] as const
  return [index, status, id, eventType, eventTypeShortCode, transactionId, ...place, remarks]
}

function unpackOutcomes(packed: readonly PackedOutcome[]): readonly AppendOutcome[] {
  return packed.map((outcome) =>
    'kind' in outcome ? outcome : { kind: 'stored', events: outcome.map(unpackEvent) },
  )
}

function unpackEvent(packed: PackedEvent): AppendedEvent {
  const [index, status, id, eventType, eventTypeShortCode, transactionId, createdDate] = packed
  const [, , , , , , , sequenceNumber, remarks] = packed
  return {
    index,
    status,
    id,
    eventType,
    eventTypeShortCode,
    transactionId,
    ...(createdDate === undefined ? {} : { stored: { sequenceNumber, createdDate } }),
    ...(remarks === undefined ? {} : { remarks }),
  }
}
