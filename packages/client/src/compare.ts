/**
 * Compares a copy with its feed, in a few requests (PROTOCOL §14.3): if the digests of two parts agree, so do all subjects in them. Reads
 * no event.
 */
import type { Connection } from './connection.ts'
import { isObject, isWhole } from './decode.ts'
import { requestJson } from './http/requests.ts'
import { feedPaths } from './wire.ts'
import type { DigestPart } from './wire.ts'

/** A subject and the number of its latest event. */
export interface HeldSubject {
  /** In lower case. */
  readonly subjectId: string
  readonly sequenceNumber: number
}

/** What a feed shows now. */
interface FeedDigest extends DigestPart {
  /** Parts by two more digits; empty if `subjects` are listed. */
  readonly parts: readonly DigestPart[]
  /** All subjects; `undefined` if there are too many. */
  readonly subjects: readonly HeldSubject[] | undefined
  /** The feed's last number before they were read. */
  readonly head: number
  readonly epoch: string
}

/** One subject that differs between the copy and its feed. Numbers are those of its latest event, in each. */
export type Difference =
  /** The feed shows it, and the copy does not have it. */
  | { readonly kind: 'missing'; readonly subjectId: string; readonly sequenceNumber: number }
  /** The copy has it, and the feed does not show it. */
  | { readonly kind: 'surplus'; readonly subjectId: string; readonly heldNumber: number }
  | {
      readonly kind: 'other'
      readonly subjectId: string
      readonly sequenceNumber: number
      readonly heldNumber: number
    }

export interface CompareOptions {
  /**
   * Everything that the copy holds, in any order, each subject once: references in lower case, with the number of the event that is kept.
   */
  readonly held: Iterable<HeldSubject> | AsyncIterable<HeldSubject>
  /** Compares one category only, if the copy was made with it. */
  readonly apiEventType?: string | undefined
  readonly signal?: AbortSignal
}

export interface Comparison {
  /** By reference. Events published while it runs may appear here: compare again after a sync, and take what is in both. */
  readonly differences: readonly Difference[]
  readonly requests: number
  /** The number of subjects that the feed shows. */
  readonly shown: number
  readonly held: number
}

/** A subject of the copy, with the digits that it is looked up by. */
interface Held extends HeldSubject {
  readonly digits: string
}

export async function compareCopy(connection: Connection, options: CompareOptions): Promise<Comparison> {
  const held: Held[] = []
  for await (const { subjectId, sequenceNumber } of options.held) {
    held.push({ subjectId, sequenceNumber, digits: subjectId.replaceAll('-', '') })
  }
  held.sort((a, b) => (a.subjectId < b.subjectId ? -1 : 1))
  const differences: Difference[] = []
  let requests = 0

  const requestDigest = async (prefix: string): Promise<FeedDigest> => {
    requests += 1
    const query = { prefix, apiEventType: options.apiEventType }
    const request = { method: 'GET', path: feedPaths[connection.feed].digest, query } as const
    return (await requestJson(connection, request, decodeDigest, options.signal)).value
  }

  /** `own`: the subjects of the copy with this prefix. */
  async function compare(answer: FeedDigest, own: readonly Held[]): Promise<void> {
    if (await isSame(answer, own)) return
    const { parts, subjects } = answer
    if (subjects !== undefined) {
      differences.push(...differencesOf(subjects, own))
      return
    }
    const theirs = new Map(parts.map((part) => [part.prefix, part]))
    const digits = answer.prefix.length + 2
    const ours = new Map<string, Held[]>()
    for (const one of own) {
      const prefix = one.digits.slice(0, digits)
      const found = ours.get(prefix)
      if (found === undefined) ours.set(prefix, [one])
      else found.push(one)
    }
    for (const prefix of [...new Set([...theirs.keys(), ...ours.keys()])].toSorted()) {
      const inside = ours.get(prefix) ?? []
      const part = theirs.get(prefix) ?? { prefix, count: 0, digest: '' }
      if (part.count === 0) differences.push(...differencesOf([], inside))
      else if (!(await isSame(part, inside))) await compare(await requestDigest(prefix), inside)
    }
  }

  const whole = await requestDigest('')
  await compare(whole, held)
  return { differences, requests, shown: whole.count, held: held.length }
}

async function isSame({ count, digest }: DigestPart, own: readonly HeldSubject[]): Promise<boolean> {
  return count === own.length && digest === (await digestSubjects(own))
}

/**
 * The digest of subjects, ascending by reference in lower case (PROTOCOL §14.3): SHA-256, in hexadecimal digits, of a line for each with
 * the reference, a blank, the number and a line feed.
 */
export async function digestSubjects(subjects: readonly HeldSubject[]): Promise<string> {
  const lines = subjects.map(({ subjectId, sequenceNumber }) => `${subjectId} ${sequenceNumber}\n`)
  const bytes = await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(lines.join('')))
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Both ascending by reference. */
function differencesOf(theirs: readonly HeldSubject[], ours: readonly HeldSubject[]): readonly Difference[] {
  const held = new Map(ours.map(({ subjectId, sequenceNumber }) => [subjectId, sequenceNumber]))
  const shown = new Map(theirs.map(({ subjectId, sequenceNumber }) => [subjectId, sequenceNumber]))
  return [...new Set([...shown.keys(), ...held.keys()])].toSorted().flatMap((subjectId): Difference[] => {
    const [sequenceNumber, heldNumber] = [shown.get(subjectId), held.get(subjectId)]
    if (sequenceNumber === heldNumber) return []
    if (heldNumber === undefined) return [{ kind: 'missing', subjectId, sequenceNumber: sequenceNumber ?? 0 }]
    if (sequenceNumber === undefined) return [{ kind: 'surplus', subjectId, heldNumber }]
    return [{ kind: 'other', subjectId, sequenceNumber, heldNumber }]
  })
}

/** `undefined`: the value does not have that shape. A digest has parts or subjects. */
function decodeDigest(value: unknown): FeedDigest | undefined {
  const whole = decodePart(value)
  if (whole === undefined || !isObject(value)) return undefined
  const { head, epoch } = value
  const parts = listOf(value['parts'], decodePart)
  const subjects = listOf(value['subjects'], decodeSubject)
  if (!isWhole(head) || typeof epoch !== 'string') return undefined
  if (subjects !== undefined) return { ...whole, subjects, parts: [], head, epoch }
  return parts === undefined ? undefined : { ...whole, subjects, parts, head, epoch }
}

function decodePart(value: unknown): DigestPart | undefined {
  if (!isObject(value)) return undefined
  const { prefix, count, digest } = value
  if (typeof prefix !== 'string' || !isWhole(count) || typeof digest !== 'string') return undefined
  return { prefix, count, digest }
}

function decodeSubject(value: unknown): HeldSubject | undefined {
  if (!isObject(value)) return undefined
  const { subjectId, sequenceNumber } = value
  return typeof subjectId === 'string' && isWhole(sequenceNumber) ? { subjectId, sequenceNumber } : undefined
}

/** `undefined`: the value is not a list, or one of its items does not have the shape. */
function listOf<Item>(
  value: unknown,
  decode: (item: unknown) => Item | undefined,
): readonly Item[] | undefined {
  if (!Array.isArray(value)) return undefined
  const items = value.flatMap((item): Item[] => {
    const decoded = decode(item)
    return decoded === undefined ? [] : [decoded]
  })
  return items.length === value.length ? items : undefined
}
