/** The body of a publish request: its headers before it is read, its bytes after (PROTOCOL §4). */
import { isUtf8 } from 'node:buffer'
import { findUtf8Fault, utf8FaultText } from '@property-events/protocol'
import { yieldForStep } from '../../runtime/yield-in-steps.ts'
import { refused } from '../exchange.ts'
import type { Refused, Request } from '../exchange.ts'
import type { Refusal } from '../problem/problem.ts'
import { quoteInput } from './echo-text.ts'

export type BodyFormat = 'json' | 'ndjson'

/** By media type. Most publishers send nothing else, so a header is first looked up as it is, without taking it apart. */
const bodyFormats: ReadonlyMap<string, BodyFormat> = new Map([
  ['application/json', 'json'],
  ['text/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
])

/** Sent by `fetch` and by generated clients that name no type: then the body's first character decides. */
const untold = ['', 'text/plain']

/** The codings that can be undone on arrival. */
export type BodyCoding = 'identity' | 'gzip'

type BodyHeaders =
  | {
      readonly kind: 'format'
      /** `undefined`: the body decides. */
      readonly format: BodyFormat | undefined
      readonly coding: BodyCoding
    }
  | Refused

/** Checks the headers that describe the body, before a byte of it is read. */
export function readBodyHeaders(request: Request, maxBytes: number): BodyHeaders {
  const contentType = request.header('content-type') ?? ''
  const format = bodyFormats.get(contentType) ?? readFormat(contentType)
  if (typeof format === 'object') return format
  const coding = request.header('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (coding !== 'identity' && coding !== 'gzip' && coding !== 'x-gzip') {
    return refused({
      code: 'unsupported_content_encoding',
      detail: `The content encoding ${quoteInput(coding)} is not accepted; send gzip, or the body as it is.`,
      headers: { 'accept-encoding': 'gzip, identity' },
    })
  }
  if (Number(request.header('content-length') ?? 0) > maxBytes) return refused(bodyTooLarge(maxBytes))
  return { kind: 'format', format, coding: coding === 'identity' ? 'identity' : 'gzip' }
}

/** What a Content-Type says; `undefined`: the body decides. */
function readFormat(contentType: string): BodyFormat | undefined | Refused {
  const [mediaType = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  const format = bodyFormats.get(mediaType)
  if (format === undefined && !untold.includes(mediaType)) return refused(unsupportedType(mediaType))
  const charset = parameters
    .find((parameter) => /^charset\s*=/.test(parameter))
    ?.replace(/^charset\s*=\s*/, '')
    .replaceAll('"', '')
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    const detail = `The charset ${quoteInput(charset)} is not accepted; send UTF-8.`
    return refused({ code: 'unsupported_charset', detail })
  }
  return format
}

/** The format of a body; `undefined` if it cannot be a publication, whatever its type was. An empty one is no JSON. */
export function formatOf(body: Buffer): BodyFormat | undefined {
  const first = /[^ \t\r\n]/.exec(body.toString('latin1', 0, 1_024))?.[0]
  return first === undefined || first === '{' || first === '[' ? 'json' : undefined
}

export function unsupportedType(mediaType: string): Refusal {
  const byDefault = mediaType.startsWith('application/x-www-form-urlencoded')
    ? ', which curl -d sends by default'
    : ''
  const seen = mediaType === '' ? 'no Content-Type' : `the Content-Type ${quoteInput(mediaType)}${byDefault}`
  const body = untold.includes(mediaType) ? ', and its body begins with neither { nor [' : ''
  const detail = `The request has ${seen}${body}; send JSON with the header content-type: application/json, or one event a line with application/x-ndjson.`
  return { code: 'unsupported_media_type', detail }
}

/** The refusal of a body that is too large, whether or not its length was announced. */
export function bodyTooLarge(maxBytes: number): Refusal {
  const detail = `The body is larger than ${maxBytes} bytes. Send several smaller requests.`
  return { code: 'body_too_large', detail }
}

/** Why the bytes of a body are refused. Replacing bytes that are not UTF-8 would store something nobody sent. */
export function refusalOfBytes(body: Buffer): Refusal | Promise<Refusal> | undefined {
  if (!isUtf8(body)) return notUtf8(body)
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) {
    return refusedBody('byte_order_mark', 'The body begins with a byte order mark; send it without one.')
  }
  return undefined
}

async function notUtf8(body: Buffer): Promise<Refusal> {
  const steps = findUtf8Fault(body)
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) await yieldForStep()
  const where = step.value === undefined ? '' : ` ${utf8FaultText(step.value)}`
  return refusedBody('invalid_utf8', `The body is not UTF-8.${where}`)
}

function refusedBody(code: string, message: string): Refusal {
  return { code: 'invalid_body', errors: [{ pointer: '', code, message }] }
}
