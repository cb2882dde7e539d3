/** What a node remembers of feeds on PostgreSQL, without a database. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { EventRow } from '../../src/events/append/decide-append.ts'
import type { FeedReading } from '../../src/events/postgres/append/feed-state.ts'
import { feedStateCache } from '../../src/events/postgres/append/feed-state-cache.ts'
import { feedName } from '../../src/events/feed-key.ts'
import type { SubjectState } from '../../src/events/append/subject-state.ts'
import { until } from '../support/until.ts'
import { batch, draft, feedKey } from './support/drafts.ts'

const key = feedKey()

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** As a hash comes out of the memory that Node shares between small buffers. */
function sliceOfMore(byte: number): Uint8Array {
  return Buffer.alloc(8_192, byte).subarray(64, 96)
}

function stateOf(byte: number): SubjectState {
  const hashes = { payloadHash: sliceOfMore(byte), updateDateHash: sliceOfMore(byte) }
  return {
    code: 'PU',
    published: true,
    category: 'sales',
    branch: null,
    spelling: '',
    keptCode: null,
    ...hashes,
  }
}

function rowOf(position: number, subjectId: string): EventRow {
  const event = {
    id: randomUUID(),
    subjectId,
    transactionId: subjectId,
    eventType: 1,
    state: stateOf(position % 256),
    payload: '{}',
    payloadState: 'full',
    contentHash: null,
    requestedCreated: undefined,
    remarks: [],
  } as const
  return { position, sequenceNumber: position, created: 1n, createdDate: '', event }
}

const emptyFeed: FeedReading = {
  key,
  revision: 0,
  lastPosition: 0,
  offset: 0,
  lastCreated: undefined,
  lastSequence: 0,
  refusal: undefined,
  idsUnread: 'free',
  ids: new Map(),
  subjects: new Map(),
  events: new Map(),
}

describe('what the cache keeps of a subject', () => {
  it('has its hashes, and keeps none of the memory that they came in (P11)', async () => {
    const remembered = feedStateCache()
    const subjects = 2_000
    collect()
    const beforeBytes = process.memoryUsage().arrayBuffers
    for (let position = 1; position <= subjects; position += 1) {
      const rows = [rowOf(position, draft({ subject: `p${position}` }).subjectId)]
      const plan = {
        reading: emptyFeed,
        rows,
        reserved: [],
        freeIds: new Set<string>(),
        knownSubjects: new Map<string, number>(),
        isClockBehind: false,
      }
      const stamped = { key, reading: emptyFeed, lastPosition: position, offset: 0, stored: [] }
      remembered.record([plan], new Map([[feedName(key), stamped]]), '', true)
    }
    // V8 gives the memory of buffers back beside the program, some time after a collection.
    const isGivenBack = () => {
      collect()
      return process.memoryUsage().arrayBuffers - beforeBytes < subjects * 1_000
    }
    await until(isGivenBack, { what: `less than 1,000 bytes for each of ${subjects} subjects` })
    const last = draft({ subject: `p${subjects}` })
    const row = remembered
      .reading([batch([last])], '')
      ?.feeds.get(feedName(key))
      ?.subjects.get(last.subjectId)
    const bytes = new Uint8Array(32).fill(subjects % 256)
    const hashes = { payloadHash: bytes, updateDateHash: bytes }
    assert.deepEqual(row, { ...stateOf(0), ...hashes, position: subjects })
  })
})
