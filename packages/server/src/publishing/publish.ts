/** Publishing to a feed: body → drafts → one durable commit → receipt. Without HTTP and without SQL. */
import { uuidV7 } from '@property-events/protocol'
import type {
  EventTypeCatalogue,
  ProblemError,
  PublishReceipt,
  PublishWarning,
  ReceiptEvent,
} from '@property-events/protocol'
import { freeBytes } from '../runtime/memory/free-bytes.ts'
import type { AppendBatch, AppendOutcome, AppendedEvent } from '../events/append/append-batch.ts'
import type { EventStore } from '../events/event-log.ts'
import type { FeedKey } from '../events/feed-key.ts'
import { withRemarks } from './publish-warnings.ts'
import type { CommitObserver } from './append-queue/commit.ts'
import { defaultCommitLimits, fairQuota } from './append-queue/commit-limits.ts'
import { createAppendQueue } from './append-queue/append-queue.ts'
import type { QueueState, SubmitOutcome } from './append-queue/append-queue.ts'
import type { MaintenanceWatch } from '../maintenance/watch.ts'
import { defaultPublicationLimits } from '../http/limits.ts'
import { publicationSteps } from './read-publication.ts'
import type { PublicationLimits } from '../http/limits.ts'
import type { PublicationReading } from './read-publication.ts'
import { createScheduler } from './scheduler.ts'

export interface PublishRequest {
  readonly key: FeedKey
  /** Valid UTF-8 without a byte order mark. The publishing side owns it from now on and frees its memory after reading it. */
  readonly body: Buffer
  readonly format: 'json' | 'ndjson'
  /** Reports what would happen; stores nothing. */
  readonly dryRun: boolean
  /** `skip`: a payload equal to its subject's latest stores nothing. */
  readonly unchanged: 'store' | 'skip'
  /** The branches that its publisher is limited to. Left out: any. */
  readonly branches?: readonly string[] | undefined
  /** The receipt says nothing of duties by law. */
  readonly withoutDuties?: true | undefined
}

export type PublishOutcome =
  /** `created`: at least one new event is on disk. */
  | { readonly kind: 'receipt'; readonly created: boolean; readonly receipt: PublishReceipt }
  /** Faults of the body, with pointers; nothing was stored. */
  | { readonly kind: 'invalid'; readonly errors: readonly ProblemError[] }
  /** An operator has stopped publishing to the store. */
  | { readonly kind: 'maintenance'; readonly retryAfterSeconds: number }
  | NothingStored

/** `inList`: the request was an array or lines, so a pointer begins with the event's index. */
type NothingStored = Exclude<SubmitOutcome, { kind: 'stored' }> & { readonly inList: boolean }

export interface Publisher {
  publish(request: PublishRequest): Promise<PublishOutcome>
  /** Appends drafts from elsewhere (the demo, a copy), through the same queue. */
  append(batch: AppendBatch): Promise<SubmitOutcome>
  /** The state of the queue. */
  queueState(): QueueState
  /** Resolves when every accepted request has been answered by the store. */
  drained(): Promise<void>
}

export interface PublisherOptions {
  readonly events: Pick<EventStore, 'append' | 'appendsAtOnce' | 'preview'>
  readonly catalogue: EventTypeCatalogue
  readonly limits?: PublicationLimits
  /** Called after a commit that stored something, before the receipt is sent. */
  readonly onStored?: (key: FeedKey, events: number) => void
  /** Asked before a body is read. Left out: there never is maintenance. */
  readonly maintenance?: MaintenanceWatch
  /** Called with how long batches wait and commits take. */
  readonly observer?: CommitObserver
  /** Milliseconds, never set back. */
  readonly clock?: () => number
  /** Milliseconds since 1970: whether a duty by law is in force. */
  readonly now?: (() => number) | undefined
}

export function createPublisher(options: PublisherOptions): Publisher {
  const { events, catalogue } = options
  const limits = options.limits ?? defaultPublicationLimits
  /** For events whose publisher sends none (D14). */
  const newId = (): string => uuidV7(Date.now())
  const now = options.now ?? Date.now
  const queue = createAppendQueue(events, defaultCommitLimits, undefined, options.observer)
  const scheduler = createScheduler(options.clock ?? (() => performance.now()))
  const unanswered = new Set<Promise<PublishOutcome>>()
  /** Bytes of bodies that have not been read yet. */
  const unread = fairQuota(defaultCommitLimits.maxWaitingCharacters)

  /** At once if the body is short and nothing else is being read. */
  function read(request: PublishRequest): undefined | PublicationReading | Promise<PublicationReading> {
    const { key, body, format } = request
    const { byteLength } = body
    const { tenantId, feed } = key
    if (!unread.take(tenantId, byteLength)) {
      freeBytes(body)
      return undefined
    }
    const end = (): void => {
      unread.free(tenantId, byteLength)
      // The drafts are separate strings and do not refer to the body.
      freeBytes(body)
    }
    const dutiesAtMs = request.withoutDuties === true ? undefined : now()
    const steps = publicationSteps({ feed, body, format, catalogue, limits, newId, dutiesAtMs })
    const reading = scheduler.run(steps, byteLength)
    if (reading instanceof Promise) return reading.finally(end)
    end()
    return reading
  }

  async function answer(request: PublishRequest): Promise<PublishOutcome> {
    const { key, dryRun, unchanged, branches } = request
    const asked = options.maintenance?.now()
    const stopped = asked instanceof Promise ? await asked : asked
    if (stopped !== undefined) {
      freeBytes(request.body)
      return { kind: 'maintenance', retryAfterSeconds: stopped.retryAfterSeconds }
    }
    const begun = read(request)
    const reading = begun instanceof Promise ? await begun : begun
    if (reading === undefined) return { kind: 'overloaded', inList: false }
    if (reading.kind === 'faults') return { kind: 'invalid', errors: reading.errors }
    const batch: AppendBatch = { key, drafts: reading.drafts, unchanged, branches }
    const outcome: SubmitOutcome = dryRun ? await events.preview(batch) : await queue.submit(batch)
    if (outcome.kind !== 'stored') return { ...outcome, inList: reading.inList }
    const stored = dryRun ? 0 : outcome.events.filter(isNew).length
    if (stored > 0) options.onStored?.(key, stored)
    return { kind: 'receipt', created: stored > 0, receipt: receiptOf(outcome, reading.warnings) }
  }

  return {
    publish(request) {
      const answered = answer(request)
      const forget = (): void => void unanswered.delete(answered)
      unanswered.add(answered)
      answered.then(forget, forget)
      return answered
    },
    append: (batch) => queue.submit(batch),
    queueState: () => queue.state(),
    async drained() {
      while (unanswered.size > 0) await Promise.allSettled(unanswered)
      await queue.drained()
    },
  }
}

function isNew(event: AppendedEvent): boolean {
  return event.status === 'appended' || event.status === 'derived'
}

function receiptOf(
  outcome: AppendOutcome & { kind: 'stored' },
  warnings: readonly PublishWarning[],
): PublishReceipt {
  return {
    events: outcome.events.map(receiptEventOf),
    repeated: outcome.events.every((event) => event.status === 'repeated'),
    warnings: [...withRemarks(warnings, outcome.events)],
  }
}

function receiptEventOf(event: AppendedEvent): ReceiptEvent {
  const { id, eventType, eventTypeShortCode, transactionId, stored, status } = event
  if (stored !== undefined && status === 'appended') {
    const { sequenceNumber, createdDate } = stored
    return { id, sequenceNumber, eventType, eventTypeShortCode, transactionId, createdDate }
  }
  return {
    id,
    ...(stored === undefined ? {} : { sequenceNumber: stored.sequenceNumber }),
    eventType,
    eventTypeShortCode,
    transactionId,
    ...(stored === undefined ? {} : { createdDate: stored.createdDate }),
    ...(status === 'repeated' ? { repeated: true } : {}),
    ...(status === 'derived' ? { derived: true } : {}),
    ...(status === 'unchanged' ? { unchanged: true } : {}),
  }
}
