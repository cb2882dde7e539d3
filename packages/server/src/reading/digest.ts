/**
 * Counts and digests of what a feed shows a key now, with which two copies find where they differ (PROTOCOL §14.3). Only references and
 * numbers are read, as a range of the subjects' key, and no event; except for a key that is shown only contacts with some roles.
 */
import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { yieldForStep } from '../runtime/yield-in-steps.ts'
import type { EventStore } from '../events/event-log.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import type { LiveSubject } from '../events/live-subjects.ts'
import type { RedactContact } from './representation/contact-redaction.ts'
import { shownTo } from './representation/visible-subjects.ts'

interface DigestQuery {
  readonly key: FeedKey
  readonly view: FeedView
  /** 0 to 32 lower-case hexadecimal digits: the beginning of the reference without its hyphens. */
  readonly prefix: string
  /** For a key that sees some contacts as removed: only the others are counted. */
  readonly narrow: RedactContact | undefined
}

export interface DigestPart {
  readonly prefix: string
  readonly count: number
  /** SHA-256, in hexadecimal digits. */
  readonly digest: string
}

type ShownSubject = Pick<LiveSubject, 'subjectId' | 'sequenceNumber'>

export interface FeedDigest extends DigestPart {
  /** Grouped by the next two digits, without empty groups; `undefined` if the subjects themselves are listed. */
  readonly parts: readonly DigestPart[] | undefined
  /** All of them; `undefined`: there are more than `mostListed`. */
  readonly subjects: readonly ShownSubject[] | undefined
}

/** Up to this many subjects are listed in place of digests of their parts. */
export const mostListed = 1_000
/** Each step takes some 5 ms of reading. */
const subjectsPerStep = 2_000
const digitsPerPart = 2
const digitsOfUuid = 32

export async function digestFeed(
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
