/** Short ways to ask a store, and to fail when the answer is not of the expected kind. */
import assert from 'node:assert/strict'
import type { FeedEvent, Ticks } from '@property-events/protocol'
import type {
  AppendBatch,
  AppendOutcome,
  AppendedEvent,
  EventDraft,
} from '../../../src/events/append/append-batch.ts'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { FeedView } from '../../../src/events/branches/branch-view.ts'
import type { Head, Located } from '../../../src/events/event-log.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { batch, feedKey } from './drafts.ts'

/** Appends one batch of drafts and returns its receipt. */
export async function publish(
  store: StorageEngine,
  drafts: readonly EventDraft[],
  options: { readonly key?: FeedKey; readonly unchanged?: AppendBatch['unchanged'] } = {},
): Promise<readonly AppendedEvent[]> {
  return receipt((await store.events.append([batch(drafts, options)]))[0])
}

export function receipt(outcome: AppendOutcome | undefined): readonly AppendedEvent[] {
  if (outcome?.kind !== 'stored') assert.fail(`not stored: ${outcome?.kind}`)
  return outcome.events
}

/** What is asked for a list: a store has more. */
interface ListedStore {
  readonly events: Pick<StorageEngine['events'], 'locate' | 'readRange'>
}

export async function located(
  store: ListedStore,
  window: {
    readonly key?: FeedKey
    readonly view?: FeedView
    readonly from?: Ticks
    readonly to?: Ticks
  } = {},
): Promise<Located> {
  const found = await store.events.locate({ key: feedKey(), view: 'all', ...window })
  assert.ok(found, 'the feed is there')
  return found
}

/** All events of a window, read in pages of `pageSize`. */
export async function list(
  store: ListedStore,
  window: Parameters<typeof located>[1] = {},
  pageSize = 1000,
): Promise<readonly FeedEvent[]> {
  const { range } = await located(store, window)
  const events: FeedEvent[] = []
  for (let skip = 0; skip < range.count; skip += pageSize) {
    const count = Math.min(pageSize, range.count - skip)
    const pieces = await store.events.readRange({ ...range, first: range.first + skip, count })
    events.push(...parseList(Buffer.concat(pieces).toString()))
  }
  assert.equal(events.length, range.count, 'as many events as located')
  return events
}

function parseList(joined: string): readonly FeedEvent[] {
  const events: FeedEvent[] = JSON.parse(`[${joined}]`)
  return events
}

export function parseEvent(json: Uint8Array): FeedEvent {
  const event: FeedEvent = JSON.parse(Buffer.from(json).toString())
  return event
}

export async function headOf(store: StorageEngine, key: FeedKey = feedKey()): Promise<Head> {
  const head = await store.events.head(key)
  assert.ok(head, 'the feed is there')
  return head
}

export function numbers(events: readonly { readonly sequenceNumber: number }[]): readonly number[] {
  return events.map((event) => event.sequenceNumber)
}

export function codes(events: readonly { readonly eventTypeShortCode: string }[]): readonly string[] {
  return events.map((event) => event.eventTypeShortCode)
}
