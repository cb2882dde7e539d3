/** Events whose `transactionId` is the reference of their subject, for readers that take it for that (D15). */
import { isUuid } from '@property-events/protocol'

const payloadMember = Buffer.from(',"payload":"')
/** In the text of a payload every quote has a backslash before it, so this is where the payload ends. */
const transactionMember = Buffer.from('","transactionId":"')
const uuidLength = 36

/**
 * Changes the ids in place, in one event or in several joined by commas: both are UUIDs, so no length changes. An id that is the subject's
 * UUID already keeps its spelling, which all events of the subject share (D15). `subjectField`: the payload's member.
 */
export function showReferences(bytes: Uint8Array, subjectField: string): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const start = Buffer.from(`{\\"${subjectField}\\":\\"`)
  for (let from = 0; ;) {
    const member = text.indexOf(payloadMember, from)
    if (member === -1) return
    const payload = member + payloadMember.length
    const end = text.indexOf(transactionMember, payload)
    const place = end + transactionMember.length
    const own = text.toString('latin1', place, place + uuidLength)
    const reference = referenceIn(text.subarray(payload, end), start, subjectField)
    if (reference !== undefined && reference.toLowerCase() !== own.toLowerCase()) {
      text.write(reference, place, 'latin1')
    }
    from = place + uuidLength
  }
}

/** `payload` has the escapes of the event's text. Most begin with the reference, and then need not be read. */
function referenceIn(payload: Buffer, start: Buffer, subjectField: string): string | undefined {
  if (payload.subarray(0, start.length).equals(start)) {
    const first = payload.toString('latin1', start.length, start.length + uuidLength)
    if (isUuid(first)) return first
  }
  const text: unknown = JSON.parse(`"${payload.toString('utf8')}"`)
  const value: unknown = JSON.parse(String(text))
  const members: Readonly<Record<string, unknown>> =
    typeof value === 'object' && value !== null ? { ...value } : {}
  const reference = members[subjectField]
  return typeof reference === 'string' && isUuid(reference) ? reference : undefined
}
