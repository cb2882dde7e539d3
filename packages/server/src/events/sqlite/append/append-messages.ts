/**
 * Batches and outcomes as messages, the form in which they travel between a serving thread and the writer's: rows without member names, and all
 * hashes of a draft as one text. A structured clone writes every member's name, and gives each array of bytes memory of its own.
 */
import type { Category, FeedName } from '@property-events/protocol'
import type {
  AppendBatch,
  AppendedEvent,
  AppendOutcome,
  DraftContent,
  EventDraft,
} from '../../append/append-batch.ts'
import type { OnWriter } from '../../../sql/sqlite.ts'

type BatchMessage = readonly [
  tenantId: string,
  feed: FeedName,
  unchanged: AppendBatch['unchanged'],
  branches: AppendBatch['branches'],
  drafts: readonly (DraftMessage | EventDraft)[],
]

/** A payload as publishers send it. Every other draft is rare, and travels as it is. */
type DraftMessage = readonly [
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

type OutcomeMessage = readonly EventMessage[] | Exclude<AppendOutcome, { kind: 'stored' }>

type EventMessage = readonly [
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
export interface AppendWrites {
  append(batches: readonly BatchMessage[]): readonly OutcomeMessage[]
}

/** Rejects as the writer does. */
export async function appendThrough(
  writer: OnWriter<AppendWrites>,
  batches: readonly AppendBatch[],
): Promise<readonly AppendOutcome[]> {
  return readOutcomes(await writer.append(writeBatches(batches)))
}

function writeBatches(batches: readonly AppendBatch[]): readonly BatchMessage[] {
  return batches.map(({ key: { tenantId, feed }, unchanged, branches, drafts }) => {
    return [tenantId, feed, unchanged, branches, drafts.map(writeDraft)]
  })
}

function writeDraft(draft: EventDraft): DraftMessage | EventDraft {
  const { content, contentHash, restriction, requestedCreated } = draft
  if (content.kind !== 'payload' || restriction !== undefined || requestedCreated !== undefined) return draft
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

export function readBatches(messages: readonly BatchMessage[]): readonly AppendBatch[] {
  return messages.map(([tenantId, feed, unchanged, branches, drafts]) => {
    return { key: { tenantId, feed }, unchanged, branches, drafts: drafts.map(readDraft) }
  })
}

function readDraft(message: DraftMessage | EventDraft): EventDraft {
  if ('id' in message) return message
  const [id, idGiven, subjectId, subjectSpelling, transactionId, eventTypeShortCode, category, ...rest] =
    message
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

export function writeOutcomes(outcomes: readonly AppendOutcome[]): readonly OutcomeMessage[] {
  return outcomes.map((outcome) => (outcome.kind === 'stored' ? outcome.events.map(writeEvent) : outcome))
}

function writeEvent(event: AppendedEvent): EventMessage {
  const { index, status, id, eventType, eventTypeShortCode, transactionId, stored, remarks } = event
  const place = [stored?.createdDate, stored?.sequenceNumber ?? 0] as const
  return [index, status, id, eventType, eventTypeShortCode, transactionId, ...place, remarks]
}

function readOutcomes(messages: readonly OutcomeMessage[]): readonly AppendOutcome[] {
  return messages.map((outcome) =>
    'kind' in outcome ? outcome : { kind: 'stored', events: outcome.map(readEvent) },
  )
}

function readEvent(message: EventMessage): AppendedEvent {
  const [index, status, id, eventType, eventTypeShortCode, transactionId, createdDate] = message
  const [, , , , , , , sequenceNumber, remarks] = message
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

/** The writer's verb. */
export interface PreviewWrites {
  preview(batch: AppendBatch): AppendOutcome
}

/**
 * Any number of previews may wait for the writer, and 16 MB of text would be copied for each. So texts are left out, and sent only if a
 * payload may be the stored one in another spelling (D14): of one preview at a time.
 */
export function previewer(writer: OnWriter<PreviewWrites>): (batch: AppendBatch) => Promise<AppendOutcome> {
  let last: Promise<unknown> = Promise.resolve()
  return async (batch) => {
    const outcome = await writer.preview(withoutTexts(batch))
    if (!dependsOnTexts(batch, outcome)) return outcome
    const turn = last.then(() => writer.preview(batch))
    last = turn.catch(() => undefined)
    return turn
  }
}

function withoutTexts(batch: AppendBatch): AppendBatch {
  const drafts = batch.drafts.map((draft): EventDraft => {
    const { content } = draft
    return content.kind === 'payload' ? { ...draft, content: { ...content, text: '{}' } } : draft
  })
  return { ...batch, drafts }
}

function dependsOnTexts({ unchanged }: AppendBatch, outcome: AppendOutcome): boolean {
  if (outcome.kind === 'idConflict') return true
  if (outcome.kind !== 'stored' || unchanged === 'store') return false
  return outcome.events.some(({ status }) => status === 'appended')
}
