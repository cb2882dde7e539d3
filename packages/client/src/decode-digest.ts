/** Turns the answer about what a feed shows into a value, as decode.ts does with other answers. */
import { isObject, isWhole } from './decode.ts'

/** A subject and the number of its latest event. */
export interface HeldSubject {
  /** In lower case. */
  readonly subjectId: string
  readonly sequenceNumber: number
}

/** Subjects whose references begin in the same way (PROTOCOL §14.3). */
export interface DigestPart {
  /** Hexadecimal digits, without hyphens. */
  readonly prefix: string
  readonly count: number
  /** SHA-256, in hexadecimal digits. */
  readonly digest: string
}

/** What a feed shows now. */
export interface FeedDigest extends DigestPart {
  /** Parts by two more digits; empty if `subjects` are listed. */
  readonly parts: readonly DigestPart[]
  /** All subjects; `undefined` if there are too many. */
  readonly subjects: readonly HeldSubject[] | undefined
  /** The feed's last number before they were read. */
  readonly head: number
  readonly epoch: string
}

/** `undefined`: the value does not have that shape. A digest has parts or subjects. */
export function decodeDigest(value: unknown): FeedDigest | undefined {
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
