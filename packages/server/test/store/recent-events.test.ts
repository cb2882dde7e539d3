/** What a node keeps of its own commits for polls, without a database. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { formatTicks } from '@property-events/protocol'
import type { EventRow } from '../../src/events/append/decide-append.ts'
import type { Head } from '../../src/events/event-log.ts'
import { feedName } from '../../src/events/feed-key.ts'
import { feedStateCache } from '../../src/events/postgres/append/feed-state-cache.ts'
import type { FeedPlan, Stamped } from '../../src/events/postgres/append/plan-commit.ts'
import { recentEvents } from '../../src/events/postgres/recent-events.ts'
import type { RecentEvents } from '../../src/events/postgres/recent-events.ts'
import { feedKey } from './support/drafts.ts'

const key = feedKey()
/** Numbers continue 100 above positions. */
const offset = 100

function headAt(position: number, state: Partial<Head> = {}): Head {
  const sequenceNumber = offset + position
  return {
    position,
    sequenceNumber,
    created: BigInt(position),
    epoch: 'e1',
    revision: 0,
    thinned: 0,
    ...state,
  }
}

function rowOf(position: number, payload: string): EventRow {
  const subjectId = randomUUID()
  const state = {
    code: 'PU',
    published: true,
    category: 'sales',
    branch: null,
    payloadHash: null,
    spelling: '',
    updateDateHash: null,
    keptCode: null,
  } as const
  const event = {
    id: randomUUID(),
    subjectId,
    transactionId: subjectId,
    eventType: 1,
    state,
    payload,
    payloadState: 'full',
    contentHash: null,
    requestedCreated: undefined,
    remarks: [],
  } as const
  return { position, sequenceNumber: position, created: 1n, createdDate: '', event }
}

/** A commit of events at these positions, each stamped with its position. */
function commitOf(
  positions: readonly number[],
  payload = (position: number) => `Tŷ £${position} 🏡`,
  of = key,
): readonly [readonly FeedPlan[], ReadonlyMap<string, Stamped>] {
  const rows = positions.map((position) => rowOf(position, payload(position)))
  const lastPosition = positions.at(-1) ?? 0
  const reading = {
    key: of,
    revision: 0,
    lastPosition: 0,
    offset,
    lastCreated: undefined,
    lastSequence: 0,
    refusal: undefined,
    idsUnread: 'free',
    ids: new Map(),
    subjects: new Map(),
    events: new Map(),
  } as const
  const plan = {
    reading,
    rows,
    reserved: [],
    freeIds: new Set<string>(),
    knownSubjects: new Map(),
    isClockBehind: false,
  }
  const stored = positions.map((position) => ({
    sequenceNumber: offset + position,
    createdDate: formatTicks(BigInt(position)),
  }))
  return [[plan], new Map([[feedName(of), { key: of, reading, lastPosition, offset, stored }]])]
}

/** The positions whose events come from memory, and how they come. */
function positionsIn(recent: RecentEvents, head: Head, first: number, count: number, of = key): unknown {
  const pieces = recent.range({ key: of, view: 'all', first, count, head })
  if (pieces === undefined) return undefined
  const events: { sequenceNumber: number; payload: string }[] = JSON.parse(
    `[${Buffer.concat(pieces).toString()}]`,
  )
  return events.map(({ sequenceNumber, payload }) => `${sequenceNumber - offset} ${payload}`)
}

/** A reader has polled when this was the head, and found nothing. */
function poll(recent: RecentEvents, head: Head, of = key): void {
  assert.equal(recent.firstFrom(of, head, BigInt(head.position) + 1n), head.position + 1)
}

function polledAt(position: number, now?: () => number): RecentEvents {
  const recent = recentEvents(now)
  poll(recent, headAt(position))
  return recent
}

const asked = { key, view: 'all', latestOnly: false } as const

describe('the events that a node has just committed', () => {
  it('come by position, by number and by time, and only where none is missing (P1, P3)', () => {
    const recent = polledAt(5)
    recent.record(...commitOf([6, 7]))
    recent.record(...commitOf([8]))
    const head = headAt(8)
    assert.deepEqual(positionsIn(recent, head, 6, 3), ['6 Tŷ £6 🏡', '7 Tŷ £7 🏡', '8 Tŷ £8 🏡'])
    assert.deepEqual(positionsIn(recent, head, 7, 1), ['7 Tŷ £7 🏡'])
    assert.equal(positionsIn(recent, head, 5, 2), undefined, 'one is older')
    assert.equal(positionsIn(recent, head, 8, 2), undefined, 'one is not there yet')
    const after = (number: number, limit: number, at = head) =>
      recent
        .after({ ...asked, after: number, limit, head: at })
        ?.map(({ sequenceNumber }) => sequenceNumber - offset)
    assert.deepEqual(after(105, 10), [6, 7, 8])
    assert.deepEqual(after(106, 1), [7])
    assert.deepEqual(after(108, 10), [])
    assert.equal(after(104, 10), undefined, 'one is older')
    assert.equal(after(105, 10, headAt(9)), undefined, 'another node has committed one')
    assert.equal(recent.firstFrom(key, head, 6n), undefined, 'an older one may have this time, too')
    assert.equal(recent.firstFrom(key, head, 7n), 7)
    assert.equal(recent.firstFrom(key, head, 9n), 9)
    assert.equal(recent.firstFrom(key, headAt(9), 9n), undefined, 'another node has committed one')
  })

  it('begin anew after an event of another node (P1)', () => {
    const recent = polledAt(5)
    recent.record(...commitOf([6]))
    recent.record(...commitOf([8]))
    assert.equal(positionsIn(recent, headAt(8), 6, 3), undefined)
    assert.equal(positionsIn(recent, headAt(8), 6, 1), undefined)
    assert.deepEqual(positionsIn(recent, headAt(8), 8, 1), ['8 Tŷ £8 🏡'])
    // A commit that came to nothing elsewhere has left its position to another.
    recent.record(...commitOf([8], () => 'Llŷn'))
    assert.deepEqual(positionsIn(recent, headAt(8), 8, 1), ['8 Llŷn'])
  })

  it('are gone after an erasure, retention and a new epoch, also where these came before their record (D13, D17)', () => {
    for (const state of [{ revision: 1 }, { thinned: 1 }, { epoch: 'e2' }]) {
      const recent = polledAt(5)
      recent.record(...commitOf([6]))
      assert.equal(positionsIn(recent, headAt(7, state), 6, 1), undefined)
      assert.equal(recent.after({ ...asked, after: 105, limit: 1, head: headAt(7, state) }), undefined)
      // Of the commit that the head shows, the answer comes late: its event may be a reduced one by now.
      recent.record(...commitOf([7]))
      assert.equal(positionsIn(recent, headAt(7, state), 7, 1), undefined)
      recent.record(...commitOf([8]))
      assert.deepEqual(positionsIn(recent, headAt(8, state), 8, 1), ['8 Tŷ £8 🏡'])
    }
  })

  it('are read only with a head, of the whole feed, and forgotten with what the node knows of it (D17, P7)', () => {
    const recent = polledAt(5)
    const states = feedStateCache(recent)
    states.record(...commitOf([6]), '', true)
    const range = { key, view: 'all', first: 6, count: 1 } as const
    assert.equal(recent.range(range), undefined)
    assert.equal(recent.range({ ...range, view: 'sales', head: headAt(6) }), undefined)
    assert.equal(
      recent.range({ ...range, first: 1, positions: Float64Array.of(6), head: headAt(6) }),
      undefined,
    )
    assert.equal(recent.after({ ...asked, after: 105, limit: 1 }), undefined)
    assert.equal(
      recent.after({ ...asked, after: 105, limit: 1, head: headAt(6), latestOnly: true }),
      undefined,
    )
    states.record(...commitOf([7]), '', false)
    assert.equal(positionsIn(recent, headAt(7), 7, 1), undefined, 'what is not committed')
    states.forget([key])
    assert.equal(positionsIn(recent, headAt(6), 6, 1), undefined)
  })

  it('belong to each reader, who may change and free them (P9)', () => {
    const recent = polledAt(5)
    recent.record(...commitOf([6, 7]))
    const head = headAt(7)
    recent.range({ key, view: 'all', first: 6, count: 1, head })?.[0]?.fill(0)
    for (const { json } of recent.after({ ...asked, after: 105, limit: 2, head }) ?? []) json.fill(0)
    assert.deepEqual(positionsIn(recent, head, 6, 2), ['6 Tŷ £6 🏡', '7 Tŷ £7 🏡'])
  })

  it('are kept for as long as somebody polls, and no more than some megabytes', () => {
    let nowMs = 0
    const unread = recentEvents(() => nowMs)
    unread.record(...commitOf([6]))
    assert.equal(positionsIn(unread, headAt(6), 6, 1), undefined)
    const recent = polledAt(5, () => nowMs)
    nowMs = 9_000
    recent.record(...commitOf([6]))
    assert.deepEqual(positionsIn(recent, headAt(6), 6, 1), ['6 Tŷ £6 🏡'])
    nowMs = 30_000
    recent.record(...commitOf([7]))
    assert.equal(positionsIn(recent, headAt(7), 7, 1), undefined)
    poll(recent, headAt(7))
    for (let position = 8; position < 18; position += 1) {
      recent.record(...commitOf([position], () => 'x'.repeat(2 ** 19)))
    }
    assert.equal(positionsIn(recent, headAt(17), 8, 1), undefined)
    assert.notEqual(positionsIn(recent, headAt(17), 17, 1), undefined)
    assert.equal(recent.range({ ...asked, first: 17, count: 1, head: headAt(17) }, 2 ** 19), undefined)
    const others = Array.from({ length: 4 }, () => feedKey(randomUUID()))
    for (const other of others) {
      poll(recent, headAt(0), other)
      recent.record(...commitOf([1], () => 'é'.repeat(2 ** 21 - 2 ** 10), other))
    }
    assert.equal(positionsIn(recent, headAt(17), 17, 1), undefined, 'more than 16 MiB of all feeds')
  })
})
