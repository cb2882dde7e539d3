/** Receiving webhooks: was this request signed with your secret, a moment ago? */
import { isObject, parseJson } from './decode.ts'
import { InvalidOptionError, PropertyEventsError } from './errors.ts'
import type { CodeOf } from './codes.ts'

/** A request that must not be used: answer it with 400, and keep nothing of it. */
export class InvalidWebhookError extends PropertyEventsError {
  declare readonly code: CodeOf<'webhook'>
  constructor(message: string) {
    super('invalid_webhook', message)
  }
}

export interface WebhookRequest {
  /** The bytes of the request as they came, or their text: never parsed and written again, which changes them. */
  readonly body: string | Uint8Array<ArrayBuffer>
  /** Of the request, in any case: `Headers`, or an object such as Node's `request.headers`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
}

export interface VerifyOptions {
  /** `whsec_…`, as shown once; two while one replaces the other. */
  readonly secrets: string | readonly string[]
  /** How old or how far ahead the time of a request may be. 300 unless said otherwise. */
  readonly toleranceSeconds?: number | undefined
  /** Milliseconds since 1970, in place of this machine's clock. */
  readonly nowMs?: number | undefined
}

/** A message that was signed by a sender who knows the secret. */
export interface WebhookMessage {
  /** The same each time this message is sent. */
  readonly id: string
  /** Such as `property.event`. Answer 2xx to unknown ones too. */
  readonly type: string
  readonly data: unknown
}

/**
 * Verifies a request of Standard Webhooks. Rejects with `InvalidWebhookError` if no secret has signed it, or its time is not near; with
 * `InvalidOptionError` if a secret is none.
 */
export async function verifyWebhook(
  { body, headers }: WebhookRequest,
  { secrets, toleranceSeconds = 300, nowMs = Date.now() }: VerifyOptions,
): Promise<WebhookMessage> {
  const id = headerOf(headers, 'webhook-id')
  const time = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  if (!/^\d{1,12}$/.test(time))
    throw new InvalidWebhookError('The header webhook-timestamp is not a time in seconds.')
  const ageSeconds = nowMs / 1_000 - Number(time)
  if (Math.abs(ageSeconds) > toleranceSeconds) {
    throw new InvalidWebhookError(
      `The request was signed ${Math.abs(Math.round(ageSeconds))} s ${ageSeconds > 0 ? 'ago' : 'in the future'}, and ${toleranceSeconds} s are allowed. Is the clock of this machine right?`,
    )
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signed = joined(new TextEncoder().encode(`${id}.${time}.`), bytes)
  const isSigned = await anyMatches(typeof secrets === 'string' ? [secrets] : secrets, signatures, signed)
  if (!isSigned)
    throw new InvalidWebhookError('No signature of the request was made with one of the secrets.')
  const message = parseJson(new TextDecoder().decode(bytes))
  if (!isObject(message) || typeof message['type'] !== 'string')
    throw new InvalidWebhookError('The body is signed, but has no "type".')
  return { id, type: message['type'], data: message['data'] }
}

function headerOf(headers: WebhookRequest['headers'], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : valueIn(headers, name)
  if (typeof value !== 'string' || value === '')
    throw new InvalidWebhookError(`The request has no header ${name}.`)
  return value
}

function valueIn(headers: Exclude<WebhookRequest['headers'], Headers>, name: string): unknown {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
}

/** No more are looked at: each costs an HMAC of the body. */
const signaturesAtMost = 10

/** `verify` compares in constant time. */
async function anyMatches(
  secrets: readonly string[],
  header: string,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const given = header.split(' ').flatMap((one) => (one.startsWith('v1,') ? [bytesOf(one.slice(3))] : []))
  let isMatch = false
  for (const secret of secrets) {
    const key = await keyOf(secret)
    for (const signature of given.slice(0, signaturesAtMost)) {
      if (signature !== undefined && (await crypto.subtle.verify('HMAC', key, signature, signed)))
        isMatch = true
    }
  }
  return isMatch
}

function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith('whsec_') ? bytesOf(secret.slice('whsec_'.length)) : undefined
  if (bytes === undefined || bytes.length === 0)
    throw new InvalidOptionError('A secret is whsec_ and base64, as it was shown.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** `undefined`: not base64. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}
