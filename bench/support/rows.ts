/** Generated events as a store keeps them: for filling stores quickly, and for the bare loops that write the same rows. */
import { hash } from 'node:crypto'
import { catalogues, eventTypeNumber, formatTicks, impliesLettings } from '@property-events/protocol'
import type { Ticks } from '@property-events/protocol'
import { generate } from '../../packages/demo/src/demo-data/generate.ts'
import { eventJson } from '../../packages/server/src/events/event-json.ts'
import type { FeedKey } from '../../packages/server/src/events/feed-key.ts'
import { updateDateHashOf } from '../../packages/server/src/events/append/subject-identity.ts'
import type { EventRecord, IdRecord, SubjectRecord } from '../../packages/server/src/store/store-records.ts'

export interface Row {
  readonly event: EventRecord
  readonly id: IdRecord
  readonly subject: SubjectRecord
}

export interface RowOptions {
  readonly key: FeedKey
  readonly events: number
  readonly averageBytes: number
  readonly seed: string
}

const first: Ticks = BigInt(Date.UTC(2016, 0, 1)) * 10_000n
/** The events are spread evenly over eight years, so that a month is about a hundredth of them. */
const whole: Ticks = 8n * 365n * 86_400n * 10_000_000n
const payloadStart = '{"payload":'

/**
 * Yields `events` rows at positions 1, 2, 3 … with the ids, times and types a service would have given. Lines of the
 * generator that only remove are left out. About 25,000 a second, some three times what publishing them takes.
 */
export function* rowsOf({ key, events, averageBytes, seed }: RowOptions): Generator<Row> {
  const step = whole / BigInt(events)
  const published = new Set<string>()
  let position = 0
  // Six of seven lines of the generator have a payload.
  for (const line of generate({ events: events * 2 + 1_000, seed, averageBytes })) {
    if (position === events) return
    if (!line.startsWith(payloadStart)) continue
    position += 1
    yield rowOf(key, line, position, first + BigInt(position) * step, `${seed}/${position}`, published)
  }
}

function rowOf(
  key: FeedKey,
  line: string,
  position: number,
  created: Ticks,
  name: string,
  publishedBefore: Set<string>,
): Row {
  const {
    payload,
  }: { payload: { agent_ref: string; published: boolean; branch_id?: string; update_date?: string } } =
    JSON.parse(line)
  const text = line.slice(payloadStart.length, -1)
  const id = uuidOf(name)
  const subjectId = payload.agent_ref
  const category = impliesLettings(payload) ? 'lettings' : 'sales'
  const branch = payload.branch_id ?? null
  const code = !payload.published
    ? 'PropertyUnpublished'
    : publishedBefore.has(subjectId)
      ? 'PropertyUpdated'
      : 'PropertyPublished'
  if (payload.published) publishedBefore.add(subjectId)
  else publishedBefore.delete(subjectId)
  const payloadHash = hash('sha256', text, 'buffer')
  const contentHash = hash('sha256', payloadHash, 'buffer')
  const state = {
    code,
    published: payload.published,
    category,
    branch,
    payloadHash,
    spelling: '',
    updateDateHash: updateDateHashOf(payload.update_date),
    keptCode: null,
  } as const
  const planned = {
    id,
    subjectId,
    transactionId: subjectId,
    eventType: eventTypeNumber(catalogues.default, key.feed, code) ?? 0,
    state,
    payload: text,
    payloadState: 'full' as const,
    contentHash,
    requestedCreated: undefined,
    remarks: [],
  }
  const json = eventJson(key, planned, position, formatTicks(created))
  return {
    event: {
      kind: 'event',
      key,
      position,
      sequenceNumber: position,
      created,
      id,
      subjectId,
      category,
      branch,
      code,
      payloadState: 'full',
      json,
    },
    id: { kind: 'id', key, id, position, contentHash, skipped: null },
    subject: { kind: 'subject', key, subjectId, position, state },
  }
}

/** A version 4 UUID derived from a name: as scattered as the random ones that a service makes. */
function uuidOf(name: string): string {
  const hex = hash('md5', name, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
}
