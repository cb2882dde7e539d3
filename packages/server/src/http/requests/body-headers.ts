/** The body of a publish request: its headers before it is read, its bytes after (PROTOCOL §4). */
import { isUtf8 } from 'node:buffer'
import { refused } from '../exchange.ts'
import type { Refused, Request } from '../exchange.ts'
import type { Refusal } from '../problem.ts'
import { quoteInput } from './echo-text.ts'

export type BodyFormat = 'json' | 'ndjson'

const bodyMediaTypes: Readonly<Record<string, BodyFormat>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
}

export type BodyHeaders = { readonly kind: 'format'; readonly format: BodyFormat } | Refused

/** What the headers say about the body; refused before a byte of it is read. */
export function readBodyHeaders(request: Request, maxBytes: number): BodyHeaders {
  const contentType = request.header('content-type')
  const [mediaType = '', ...parameters] = (contentType ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase())
  const format = Object.hasOwn(bodyMediaTypes, mediaType) ? bodyMediaTypes[mediaType] : undefined
  if (format === undefined) {
    const seen = mediaType === '' ? 'no Content-Type' : quoteInput(mediaType)
    const allowed = Object.keys(bodyMediaTypes).join(' or ')
    return refused({ code: 'unsupported_media_type', detail: `The request has ${seen}; send ${allowed}.` })
  }
  const charset = parameters
    .find((parameter) => /^charset\s*=/.test(parameter))
    ?.replace(/^charset\s*=\s*/, '')
    .replaceAll('"', '')
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    const detail = `The charset ${quoteInput(charset)} is not accepted; send UTF-8.`
    return refused({ code: 'unsupported_charset', detail })
  }
  const coding = request.header('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (coding !== 'identity') {
    const detail = `The content encoding ${quoteInput(coding)} is not accepted; send the body as it is.`
    return refused({
      code: 'unsupported_content_encoding',
      detail,
      headers: { 'accept-encoding': 'identity' },
    })
  }
  if (Number(request.header('content-length') ?? 0) > maxBytes) return refused(bodyTooLarge(maxBytes))
  return { kind: 'format', format }
}

/** The refusal of a body that is too large, whether it said so before or not. */
export function bodyTooLarge(maxBytes: number): Refusal {
  const detail = `The body is larger than ${maxBytes} bytes. Send several smaller requests.`
  return { code: 'body_too_large', detail }
}

/** Why the bytes of a body are refused. Replacing those that are no UTF-8 would store something nobody sent. */
export function refusalOfBytes(body: Buffer): Refusal | undefined {
  if (!isUtf8(body)) {
    return refusedBody('invalid_utf8', 'The body is not valid UTF-8.')
  }
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) {
    return refusedBody('byte_order_mark', 'The body begins with a byte order mark; send it without one.')
  }
  return undefined
}

function refusedBody(code: string, message: string): Refusal {
  return { code: 'invalid_body', errors: [{ pointer: '', code, message }] }
}
