/** How a subject's UUID is spelled in all its events (D15), and whether its `update_date` has changed. */
import { sameBytes } from './content-hash.ts'
import type { SubjectState } from './subject-state.ts'

/**
 * The spelling that the first event gives its subject, in the stored form: `''` for lower case. Known clients take the `transactionId`
 * for the property's id and compare it as text. So the first event's `transactionId` decides, if it is a spelling of the subject; if it
 * is another UUID, the reference in its payload decides.
 */
export function firstSpelling(
  subjectId: string,
  transactionId: string | undefined,
  reference: string | undefined,
): string {
  const spelling = [transactionId, reference].find((text) => text?.toLowerCase() === subjectId) ?? subjectId
  return spelling === subjectId ? '' : spelling
}

/** From the form that is stored to the text itself. */
export function spelled(subjectId: string, spelling: string): string {
  return spelling === '' ? subjectId : spelling
}

/**
 * 8 bytes: FNV-1a over UTF-16 units, from two beginnings. A wrong match costs a wrong warning, so it need not withstand
 * attacks, and SHA-256 took 2 % of the time in which a publication is read (1.1 of 50 µs).
 */
export function updateDateHashOf(updateDate: string | undefined): Uint8Array | null {
  if (updateDate === undefined || updateDate === '') return null
  let [one, other] = [0x811c9dc5, 0x050c5d1f]
  for (let index = 0; index < updateDate.length; index += 1) {
    const unit = updateDate.charCodeAt(index)
    one = Math.imul(one ^ unit, 0x01000193)
    other = Math.imul(other ^ unit, 0x01000193)
  }
  const bytes = new Uint8Array(8)
  for (let place = 0; place < 4; place += 1) {
    bytes[place] = one >>> (place * 8)
    bytes[place + 4] = other >>> (place * 8)
  }
  return bytes
}

/** A text member of a stored payload; `undefined` where there is none. */
export function payloadMember(payload: string, name: string): string | undefined {
  const value: unknown = JSON.parse(payload)
  const members: Readonly<Record<string, unknown>> =
    typeof value === 'object' && value !== null ? { ...value } : {}
  const member = members[name]
  return typeof member === 'string' ? member : undefined
}

/**
 * True when clients that look at `update_date` alone would miss the change: the property is shown with another payload than
 * before, or shown again after it had gone, and the date is the same. A client that reads that the property goes needs no date.
 */
export function keepsUpdateDate(before: SubjectState, after: SubjectState): boolean {
  if (!after.published || after.updateDateHash === null || before.updateDateHash === null) return false
  if (!sameBytes(after.updateDateHash, before.updateDateHash)) return false
  if (!before.published || before.payloadHash === null || after.payloadHash === null) return true
  return !sameBytes(after.payloadHash, before.payloadHash)
}
