/** A row of `subject`, and the values to write it. */
import type { Category } from '@property-events/protocol'
import { writeUuid } from '@property-events/protocol/plain'
import type { SubjectState } from '../append/subject-state.ts'

export interface SubjectRow {
  readonly position: number
  readonly published: number
  readonly category: Category | null
  readonly branch: string | null
  readonly code: string
  readonly payload_hash: Uint8Array | null
  readonly spelling: string
  readonly update_date_hash: Uint8Array | null
  readonly kept_code: string | null
}

export function subjectStateOf(row: SubjectRow): SubjectState {
  const { code, published, category, branch, payload_hash, spelling, update_date_hash, kept_code } = row
  return {
    code,
    published: published === 1,
    category,
    branch,
    payloadHash: payload_hash,
    spelling,
    updateDateHash: update_date_hash,
    keptCode: kept_code,
  }
}

/** In the order in which `putSubject` takes them. */
export function subjectValues(
  feedNo: number,
  subjectId: string,
  position: number,
  { published, category, branch, code, payloadHash, spelling, updateDateHash, keptCode }: SubjectState,
): readonly (number | string | Uint8Array | null)[] {
  const subject = boundUuid(subjectId)
  const shown = published ? 1 : 0
  const hashes = [payloadHash, spelling, updateDateHash, keptCode]
  return [feedNo, subject, position, shown, category, branch, code, ...hashes]
}

const slots = Array.from({ length: 16 }, () => Buffer.allocUnsafeSlow(16))
let used = 0

/**
 * The 16 bytes of a UUID text that `isUuid` accepts, to be bound to a statement at once. They are lent: the sixteenth call from now writes
 * over them. SQLite copies what is bound, and bytes made for one use only get memory outside V8's heap when they are bound, five times per publication.
 */
export function boundUuid(uuid: string): Uint8Array {
  const slot = slots[used % slots.length] ?? Buffer.allocUnsafeSlow(16)
  used = (used + 1) % slots.length
  writeUuid(uuid, slot, 0)
  return slot
}
