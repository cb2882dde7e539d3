/** The text of a payload as an object, read tolerantly. */
import { isObject, parseJson } from '../decode.ts'
import type { JsonObject } from '../decode.ts'
import type { Quirk, ReportQuirk } from './quirk.ts'

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
