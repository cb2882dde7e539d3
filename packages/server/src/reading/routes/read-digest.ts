/** `GET /v1/property-events/digest` and the same for contacts: describes what the feed shows now, to compare copies (PROTOCOL §14.3). */
import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { feeds, meaningOf } from '@property-events/protocol'
import type { FeedName, ProblemError, ViewName } from '@property-events/protocol'
import type { EventStore, Head } from '../../events/event-log.ts'
import { feedViewOf } from '../feed-view.ts'
import { refused } from '../../http/exchange.ts'
import { feedKeyOf } from '../../http/access.ts'
import type { Outcome } from '../../http/exchange.ts'
import { apiEventTypeSchema } from '../../http/openapi/parameters.ts'
import { capital, feedHeaders } from '../../http/openapi/responses.ts'
import { feedOperation } from '../../http/keyed-operation.ts'
import { preferredCoding } from '../../http/requests/accept.ts'
import { readApiEventType } from './cursor-parameters.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { readParameters } from '../../http/requests/query.ts'
import { jsonAnswer, jsonHeaders } from './answers.ts'
import { ownBody } from '../../http/answer-body.ts'
import type { Operation } from '../../http/operation.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { KeyLimits } from '../../http/rate-limit/key-limits.ts'
import type { RepresentationOf } from '../representation/representation.ts'
import { yieldForStep } from '../../runtime/yield-in-steps.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { FeedView } from '../../events/branches/branch-view.ts'
import type { LiveSubject } from '../../events/live-subjects.ts'
import type { RedactContact } from '../representation/contact-redaction.ts'
import { redactedEvents } from '../representation/contact-redaction.ts'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'

interface Context {
  readonly events: EventStore
  readonly formOf: RepresentationOf
  readonly keyLimits: KeyLimits
  readonly limits: ServiceLimits
}

const names = ['prefix', 'apiEventType'] as const

export function readDigest(context: Context, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { events, limits, keyLimits } = context
  return feedOperation(feedName, {
    method: 'GET',
    path: `${feed.publishPath}/digest`,
    operationId: `read${capital(feedName)}Digest`,
    summary: `Compare a copy of the ${feedName} feed`,
    description: `Counts and digests of what the feed shows the key now, by the beginning of the reference: two copies find what differs between them in a few requests. Up to ${mostListed.toLocaleString('en-GB')} are listed with their numbers. Counts as a snapshot while it is made.`,
    query: {
      type: 'object',
      properties: {
        prefix: {
          type: 'string',
          pattern: '^[0-9A-Fa-f]{0,32}$',
          default: '',
          description: 'Only references that begin with these hexadecimal digits; without hyphens.',
        },
        apiEventType: apiEventTypeSchema(feedName),
      },
    },
    ok: { description: 'The digest.', schema: 'FeedDigest' },
    headers: feedHeaders,
    problems: ['too_many_snapshots'],

    prepare({ query }) {
      const reading = readParameters(query, names, limits, (values, errors) => ({
        prefix: readPrefix(values, errors),
        view: readView(feedName, values, errors),
      }))
      if (reading.kind === 'refused') return () => reading
      const { prefix, view } = reading.parameters
      return async (request, access) => {
        const release = keyLimits.enterSnapshot(access.keyId ?? '')
        if (release === undefined) return refused({ code: 'too_many_snapshots' })
        try {
          const key = feedKeyOf(access, feedName)
          // Read before the subjects: what comes meanwhile has a greater number.
          const head = await events.head(key)
          if (head === undefined) return refused({ code: 'key_disabled' })
          const hidesSome = feedName === 'contact' && access.contact?.roles !== undefined
          const narrow = hidesSome ? context.formOf(access, feedName)?.narrow : undefined
          const query = { key, view: feedViewOf(access, view), prefix, narrow }
          const digest = await digestFeed(events, query)
          return await digestAnswer(digest, head, preferredCoding(request.header('accept-encoding')))
        } finally {
          release()
        }
      }
    },
  })
}

function digestAnswer(
  { parts, subjects, ...whole }: FeedDigest,
  head: Head,
  coding: ReturnType<typeof preferredCoding>,
): Outcome | Promise<Outcome> {
  const { sequenceNumber, epoch } = head
  const body = JSON.stringify({
    ...whole,
    parts: parts ?? null,
    subjects: subjects ?? null,
    head: sequenceNumber,
    epoch,
  })
  const fields = { headers: jsonHeaders, etag: undefined, feed: head, sent: undefined }
  return jsonAnswer(fields, ownBody(Buffer.from(body)), coding)
}

function readPrefix(values: ReadonlyMap<string, string>, errors: ProblemError[]): string {
  const text = values.get('prefix') ?? ''
  if (/^[0-9A-Fa-f]{0,32}$/.test(text)) return text.toLowerCase()
  const message = `${quoteInput(text)} is not the beginning of a reference: 0 to 32 hexadecimal digits, without hyphens.`
  errors.push({ parameter: 'prefix', code: 'not_a_prefix', message })
  return ''
}

function readView(feed: FeedName, values: ReadonlyMap<string, string>, errors: ProblemError[]): ViewName {
  const type = values.get('apiEventType')
  const view = type === undefined ? 'all' : readApiEventType(feed, type)
  if (typeof view === 'string') return view
  errors.push(view)
  return 'all'
}

/**
 * Counts and digests of what a feed shows a key now, with which two copies find where they differ (PROTOCOL §14.3). Only references and
 * numbers are read, as a range of the subjects' key, and no event; except for a key that is shown only contacts with some roles.
 */
interface DigestQuery {
  readonly key: FeedKey
  readonly view: FeedView
  /** 0 to 32 lower-case hexadecimal digits: the beginning of the reference without its hyphens. */
  readonly prefix: string
  /** For a key that sees some contacts as removed: only the others are counted. */
  readonly narrow: RedactContact | undefined
}

interface DigestPart {
  readonly prefix: string
  readonly count: number
  /** SHA-256, in hexadecimal digits. */
  readonly digest: string
}

type ShownSubject = Pick<LiveSubject, 'subjectId' | 'sequenceNumber'>

interface FeedDigest extends DigestPart {
  /** Grouped by the next two digits, without empty groups; `undefined` if the subjects themselves are listed. */
  readonly parts: readonly DigestPart[] | undefined
  /** All of them; `undefined`: there are more than `mostListed`. */
  readonly subjects: readonly ShownSubject[] | undefined
}

/** Up to this many subjects are listed in place of digests of their parts. */
const mostListed = 1_000
/** Each step takes some 5 ms of reading. */
const subjectsPerStep = 2_000
const digitsPerPart = 2
const digitsOfUuid = 32

async function digestFeed(
  events: Pick<EventStore, 'liveSubjects' | 'readRangeWithin' | 'readRange'>,
  { key, view, prefix, narrow }: DigestQuery,
): Promise<FeedDigest> {
  const whole = tally(prefix)
  const parts = new Map<string, Tally>()
  const listed: ShownSubject[] = []
  const [first, last] = [uuidOf(prefix.padEnd(digitsOfUuid, '0')), uuidOf(prefix.padEnd(digitsOfUuid, 'f'))]
  for (let after: string | undefined; ;) {
    const step = await events.liveSubjects({ key, view, first, last, after, limit: subjectsPerStep })
    const shown = narrow === undefined ? step.subjects : await shownTo(narrow, events, key, step.subjects)
    for (const { subjectId, sequenceNumber } of shown) {
      const subject = { subjectId, sequenceNumber }
      whole.add(subject)
      const name = digitsOf(subjectId).slice(0, prefix.length + digitsPerPart)
      let part = parts.get(name)
      if (part === undefined) parts.set(name, (part = tally(name)))
      part.add(subject)
      if (listed.length <= mostListed) listed.push(subject)
    }
    if (step.next === undefined) break
    after = step.next
    await yieldForStep()
  }
  const isListed = listed.length <= mostListed
  return {
    ...whole.part(),
    parts: isListed ? undefined : [...parts.values()].map((part) => part.part()),
    subjects: isListed ? listed : undefined,
  }
}

interface Tally {
  add(subject: ShownSubject): void
  part(): DigestPart
}

function tally(prefix: string): Tally {
  const hash: Hash = createHash('sha256')
  let count = 0
  return {
    add({ subjectId, sequenceNumber }) {
      hash.update(`${subjectId} ${sequenceNumber}\n`)
      count += 1
    },
    part: () => ({ prefix, count, digest: hash.digest('hex') }),
  }
}

function digitsOf(uuid: string): string {
  return uuid.replaceAll('-', '')
}

function uuidOf(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Which subjects are shown to a key that others are shown to as removed: contacts without one of its roles (D11, docs/decisions/0041). */

/** Some 2 ms of reading and narrowing. */
const eventsPerStep = 100
/** Of payloads as long as they may be, fewer at a time. */
const mostBytes = 2 ** 20

/** Those of the subjects whose latest event the key is not shown as a removal, in their order. Reads each of these events. */
async function shownTo(
  narrow: RedactContact,
  events: Pick<EventStore, 'readRangeWithin' | 'readRange'>,
  key: FeedKey,
  subjects: readonly LiveSubject[],
): Promise<readonly LiveSubject[]> {
  const positions = Float64Array.from(subjects, ({ position }) => position).toSorted()
  const shown = new Set<number>()
  let size = eventsPerStep
  for (let from = 0; from < positions.length;) {
    const count = Math.min(size, positions.length - from)
    const range = { key, view: 'all', first: from + 1, count, positions } as const
    const pieces =
      count === 1 ? await events.readRange(range) : await events.readRangeWithin(range, mostBytes)
    if (pieces === undefined) {
      size = Math.floor(count / 2)
      continue
    }
    for (const event of redactedEvents(Buffer.concat(pieces), narrow)) {
      if (meaningOf(key.feed, event.eventTypeShortCode) !== 'gone') shown.add(event.sequenceNumber)
    }
    for (const piece of pieces) freeBytes(piece)
    from += count
    await yieldForStep()
  }
  return subjects.filter(({ sequenceNumber }) => shown.has(sequenceNumber))
}
