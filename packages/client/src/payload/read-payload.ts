/** The text of a payload as an object, read tolerantly. */
import { isObject, parseJson } from '../decode.ts'
import type { JsonObject } from '../decode.ts'

export interface PayloadReading<T> {
  /** `undefined` when the text is not a JSON object. */
  readonly value: T | undefined
  /** Everything in the payload that is not as the contract says. */
  readonly quirks: readonly Quirk[]
  /** The payload, byte for byte. */
  readonly text: string
  /** The parsed payload, unknown members included. */
  readonly raw: unknown
}

export function readPayload<T>(
  payload: string,
  read: (object: JsonObject, report: ReportQuirk) => T,
): PayloadReading<T> {
  const quirks: Quirk[] = []
  const report: ReportQuirk = (code, pointer, message) => {
    quirks.push({ code, pointer, message: `${pointer === '' ? 'the payload' : pointer}: ${message}` })
  }
  const raw = parseJson(payload)
  if (isObject(raw)) return { value: read(raw, report), quirks, text: payload, raw }
  report('not_an_object', '', 'not the JSON text of an object')
  return { value: undefined, quirks, text: payload, raw }
}

/**
 * A deviation that a payload reader found and corrected, or could not use. Reported, never thrown: one odd field costs
 * that field.
 */

export type QuirkCode =
  /** The payload is not JSON text of an object; nothing of it can be used. */
  | 'not_an_object'
  /** The value has another type than the contract says, and was left out. */
  | 'wrong_type'
  /** A number, flag or text written as another type, whose meaning is clear. */
  | 'converted'
  /** A list has null elements, which were left out. */
  | 'null_element'
  /** A list names a code twice; it is kept once. */
  | 'repeated_element'
  /** `obligations` is a list (spec §2.6); read as an object. */
  | 'obligations_as_list'
  /** Flood data stands in `details` (spec §2.6), or RTDF's `risks` does; moved to `risks`. */
  | 'flood_data_in_details'
  /** `risks` and `details` say different things about flooding; `risks` wins. */
  | 'flood_data_differs'
  /** Not a date of the contract's form, or a day that does not exist. */
  | 'invalid_date'
  /** The hour that the clocks repeat in autumn: two instants are possible. */
  | 'repeated_hour'
  /** The hour that the clocks skip in spring: there was no such moment. */
  | 'skipped_hour'
  /** The payload names no subject; the event's `transactionId` was taken, as public clients do. */
  | 'subject_from_transaction'

export interface Quirk {
  readonly code: QuirkCode
  /** RFC 6901 pointer into the payload. */
  readonly pointer: string
  /** Names the pointer and the kind of fault, never the value: payloads of contacts are personal data. */
  readonly message: string
}

export type ReportQuirk = (code: QuirkCode, pointer: string, message: string) => void
