/**
 * What keys publish and what they are refused, counted in memory by the minute (PROTOCOL §14): numbers and codes, and the pointers of faults
 * in refusals. Never a value of a payload, nor a name of a member that the contract does not know.
 */
import { knownFieldNames } from '@property-events/protocol'
import type { FeedName, ProblemError, PublishReceipt } from '@property-events/protocol'
import { addInParts } from '../../sql/add-in-parts.ts'
import type { WriteBuffer } from '../../runtime/write-buffer.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import {
  hourOfMinute,
  joinMinutes,
  placesPerWarning,
  publicationsPerCommit,
  refusalsPerHour,
} from './publication.ts'
import type {
  PublicationFault,
  PublicationRefusal,
  PublicationStore,
  PublishedMinute,
  PublishedMinuteName,
  WarningPlaces,
} from './publication.ts'

export interface PublishHistory extends WriteBuffer {
  /** An accepted request that was not a dry run. */
  accepted(keyId: string, key: FeedKey, receipt: PublishReceipt): void
  refused(keyId: string, key: FeedKey, refusal: RefusedRequestFacts): void
}

interface RefusedRequestFacts {
  readonly requestId: string
  /** The code of the problem. */
  readonly code: string
  readonly errors: readonly ProblemError[]
}

const minuteMs = 60_000
/** For one refusal. Its answer had up to 100. */
const mostFaults = 10

/** `clock`: milliseconds since 1970. */
export function createPublishHistory(
  store: Pick<PublicationStore, 'add'>,
  clock: () => number = Date.now,
): PublishHistory {
  let minutes = new Map<string, PublishedMinute>()
  let refusals: PublicationRefusal[] = []
  /** How many refusals of a key were kept singly within the hour. */
  const singly = new Map<string, number>()
  let hour = 0

  function put(minute: PublishedMinute): void {
    const name = textOf(minute)
    const before = minutes.get(name)
    minutes.set(name, before === undefined ? minute : joinMinutes(before, minute))
  }

  /** Whether one more is kept singly; the store counts those of all nodes. */
  function isKeptSingly(keyId: string, now: number): boolean {
    if (hour !== now) singly.clear()
    hour = now
    const count = (singly.get(keyId) ?? 0) + 1
    if (count <= refusalsPerHour) singly.set(keyId, count)
    return count <= refusalsPerHour
  }

  return {
    accepted(keyId, key, receipt) {
      put({
        ...emptyMinute({ key, keyId, minute: Math.floor(clock() / minuteMs) }),
        ...countsOf(key.feed, receipt),
      })
    },
    refused(keyId, key, { requestId, code, errors }) {
      const atMs = clock()
      const name = { key, keyId, minute: Math.floor(atMs / minuteMs) }
      put({ ...emptyMinute(name), refused: 1 })
      if (!isKeptSingly(keyId, hourOfMinute(name.minute))) return
      const faults = errors.slice(0, mostFaults).map((error) => faultOf(key.feed, error))
      refusals.push({ ...name, atMs, requestId, code, faults })
    },
    async flush(rest) {
      const batch = [...minutes.values()].toSorted(compare)
      const batchRefusals = refusals
      minutes = new Map()
      refusals = []
      const add = (some: readonly PublishedMinute[]) => store.add(some, batchRefusals.filter(isOf(some)))
      const left = await addInParts(batch, publicationsPerCommit, add, rest)
      if (left === undefined) return
      for (const minute of left.rows) put(minute)
      refusals.push(...batchRefusals.filter(isOf(left.rows)))
      throw left.failure
    },
  }
}

/** One request, about which nothing is known yet. */
function emptyMinute(name: PublishedMinuteName): PublishedMinute {
  const counts = { requests: 1, stored: 0, repeated: 0, unchanged: 0, refused: 0 }
  return { ...name, ...counts, numbers: undefined, warnings: {}, warningPlaces: {} }
}

function countsOf(feed: FeedName, { events, warnings: given }: PublishReceipt) {
  let [stored, repeated, unchanged, first, last] = [0, 0, 0, Infinity, 0]
  for (const event of events) {
    if (event.repeated === true) repeated += 1
    else if (event.unchanged === true) unchanged += 1
    else {
      stored += 1
      first = Math.min(first, event.sequenceNumber ?? first)
      last = Math.max(last, event.sequenceNumber ?? last)
    }
  }
  const numbers = stored === 0 ? undefined : ([first, last] as const)
  const counts = { stored, repeated, unchanged, numbers }
  if (given.length === 0) return { ...counts, warnings: {}, warningPlaces: {} }
  const warnings: Record<string, number> = {}
  const places = new Map<string, Set<string>>()
  for (const { code, pointer } of given) {
    warnings[code] = (warnings[code] ?? 0) + 1
    const known = places.get(code) ?? new Set()
    places.set(code, known.add(shownPointer(feed, pointerInEvent(code, pointer))))
  }
  const warningPlaces: WarningPlaces = Object.fromEntries(
    [...places].map(([code, some]) => [code, [...some].toSorted().slice(0, placesPerWarning)]),
  )
  return { ...counts, warnings, warningPlaces }
}

/** Those of warnings are into the payload, save one (`PublishWarning`); those of faults are into the event. */
function pointerInEvent(code: string, pointer: string): string {
  return code === 'transaction_id_differs' ? pointer : `/payload${pointer}`
}

function faultOf(feed: FeedName, { pointer, parameter, code }: ProblemError): PublicationFault {
  const place = pointer ?? (parameter === undefined ? '' : `?${parameter}`)
  return { pointer: shownPointer(feed, place), code }
}

/** Members around a payload (PROTOCOL §4). */
const itemNames: ReadonlySet<string> = new Set([
  '?dryRun',
  '?unchanged',
  '?tenant',
  'payload',
  'remove',
  'agentRef',
  'reason',
  'id',
  'category',
  'eventType',
  'transactionId',
])

/** `*` replaces a name that the publisher chose, because it may be a value, such as the name of a person. */
function shownPointer(feed: FeedName, pointer: string): string {
  const isShown = (name: string): boolean =>
    name === '' || /^\d{1,5}$/.test(name) || itemNames.has(name) || knownFieldNames[feed].has(name)
  return pointer
    .split('/')
    .slice(0, 12)
    .map((name) => (isShown(name) ? name : '*'))
    .join('/')
}

function isOf(minutes: readonly PublishedMinuteName[]): (refusal: PublicationRefusal) => boolean {
  const names = new Set(minutes.map(textOf))
  return (refusal) => names.has(textOf(refusal))
}

/** In the order of the store. */
function textOf({ key, keyId, minute }: PublishedMinuteName): string {
  return `${key.tenantId} ${minute} ${key.feed === 'property' ? 1 : 2} ${keyId}`
}

function compare(one: PublishedMinuteName, other: PublishedMinuteName): number {
  const [a, b] = [textOf(one), textOf(other)]
  return a === b ? 0 : a < b ? -1 : 1
}
