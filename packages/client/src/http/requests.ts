/** Single requests, and requests that are repeated. Nothing here knows what the answers mean. */
import { beginAttempt, wantsTls } from './attempt.ts'
import type { Attempt } from './attempt.ts'
import type { Connection } from '../connection.ts'
import { parseJson } from '../decode.ts'
import { AbortedError, InvalidAnswerError, NetworkError } from '../errors.ts'
import { beginAttempts } from './retry.ts'
import { InvalidRequestError, serviceErrorOf } from '../service-errors.ts'
import { checkValues, maxAnswerBytes, tooLong } from './size-limits.ts'
import type { ProblemError } from '../wire.ts'

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** After the base URL, beginning with a slash. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: string
  readonly contentType?: string
  /** The longest answer that is read: 12 MiB by default. */
  readonly maxBytes?: number
  /** Its name in messages; method and path by default. */
  readonly name?: string | undefined
  /**
   * Translates a fault that the service reports into the caller's terms: the body may be a part of the caller's input.
   */
  readonly mapFault?: (fault: ProblemError) => ProblemError
}

export interface Answer<T> {
  readonly value: T
  readonly status: number
  readonly headers: Headers
}

/** An answer with a 2xx status, and its body piece by piece. `chunks` has to be read once, or `close` called. */
export interface OpenAnswer {
  readonly status: number
  readonly headers: Headers
  readonly chunks: () => AsyncGenerator<Uint8Array>
  readonly close: () => void
  /** From now on the answer may take as long as it needs: `endsAt` no longer ends it, but silence does. */
  readonly lift: () => void
}

/** Enough for a problem document with 100 faults. */
const maxProblemBytes = 64 * 2 ** 10

/**
 * Sends a request until its JSON answer is complete and `decode` accepts it, or until another attempt is pointless. Throws only
 * `PropertyEventsError`s.
 */
export async function requestJson<T>(
  connection: Connection,
  request: Request,
  decode: (value: unknown) => T | undefined,
  signal?: AbortSignal,
): Promise<Answer<T>> {
  const deadline = connection.now() + connection.deadlineMs
  const attempts = beginAttempts(connection, signal, deadline)
  for (;;) {
    try {
      return await attemptJson(connection, request, decode, signal, deadline)
    } catch (error) {
      await attempts.failed(error)
    }
  }
}

async function attemptJson<T>(
  connection: Connection,
  request: Request,
  decode: (value: unknown) => T | undefined,
  signal: AbortSignal | undefined,
  deadline: number,
): Promise<Answer<T>> {
  const answer = await openAnswer(connection, request, signal, deadline)
  const text = await readText(answer, request.maxBytes ?? maxAnswerBytes)
  checkValues(text)
  const value = decode(parseJson(text))
  if (value === undefined) {
    throw new InvalidAnswerError(
      `${nameOf(request)} was answered with something other than the contract's JSON: ${show(text)}`,
      { requestId: answer.headers.get('x-request-id') ?? undefined },
    )
  }
  return { value, status: answer.status, headers: answer.headers }
}

/**
 * One attempt. The caller's signal, silence, `endsAt` and a broken connection end it, each with an error of its own.
 */
export async function openAnswer(
  connection: Connection,
  request: Request,
  signal: AbortSignal | undefined,
  endsAt?: number,
): Promise<OpenAnswer> {
  const attempt = beginAttempt(connection, nameOf(request), signal, endsAt)
  const url = urlOf(connection, request)
  const response = await send(connection, request, url, attempt)
  const answer: OpenAnswer = {
    status: response.status,
    headers: response.headers,
    chunks: () => chunksOf(response, attempt),
    close: () => {
      attempt.settle()
      attempt.end()
    },
    lift: () => attempt.lift(),
  }
  if (response.ok) return answer
  const redirected = redirectErrorOf(response, { name: nameOf(request), path: request.path, url })
  if (redirected !== undefined) {
    answer.close()
    throw redirected
  }
  throw serviceErrorOf({
    status: response.status,
    headers: response.headers,
    body: await readText(answer, maxProblemBytes).catch(withoutBody),
    request: nameOf(request),
    nowMs: connection.now(),
    mapFault: request.mapFault,
  })
}

async function send(
  { fetch, key, tenant, consumer }: Connection,
  request: Request,
  url: string,
  attempt: Attempt,
): Promise<Response> {
  const { method, body, contentType } = request
  try {
    return await fetch(url, {
      method,
      headers: {
        'x-api-key': key,
        ...(tenant === undefined ? {} : { 'x-tenant': tenant }),
        ...(consumer === undefined ? {} : { 'x-feed-consumer': consumer }),
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body }),
      // A redirect must not be followed, because the key would go with the request; and as an error of fetch it would
      // look like an outage.
      redirect: 'manual',
      signal: attempt.signal,
    })
  } catch (cause) {
    const error = attempt.explain(cause)
    if (error.code !== 'network' || !(await wantsTls(fetch, cause, url))) throw error
    const sentence =
      'The server takes no request without TLS. Does its address begin with https:// in place of http://?'
    throw new NetworkError('not_http', `${nameOf(request)}: ${sentence}`, cause)
  }
}

async function* chunksOf(response: Response, attempt: Attempt): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  if (reader === undefined) {
    attempt.settle()
    return
  }
  try {
    for (;;) {
      attempt.listen()
      const { done, value } = await reader.read()
      if (done) break
      // While the caller works on a piece, a pause is not the sender's silence.
      attempt.pause()
      yield value
    }
    attempt.settle()
  } catch (cause) {
    throw attempt.explain(cause)
  } finally {
    attempt.settle()
    attempt.end()
  }
}

/** If the body cannot be read, the status is enough. */
function withoutBody(error: unknown): string {
  if (error instanceof AbortedError) throw error
  return ''
}

async function readText(answer: OpenAnswer, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let bytes = 0
  for await (const chunk of answer.chunks()) {
    bytes += chunk.length
    if (bytes > maxBytes) throw tooLong(`The answer is longer than ${maxBytes} bytes.`)
    text += decodeUtf8(decoder, chunk)
  }
  return text + decodeUtf8(decoder)
}

/** The text of a piece; without a piece, the rest. */
export function decodeUtf8(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
  } catch (cause) {
    throw new InvalidAnswerError('The answer is not UTF-8, or was cut off inside a character.', { cause })
  }
}

function urlOf(connection: Connection, request: Request): string {
  const query = Object.entries(request.query ?? {})
    .filter((entry): entry is [string, string | number] => entry[1] !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `${connection.baseUrl}${request.path}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

function nameOf(request: Request): string {
  return request.name ?? `${request.method} ${request.path}`
}

/** The first words of an answer, for a message: enough to recognise the page of a proxy. */
function show(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}

/** Redirects are refused and never followed, because the key would go to the other address. */
const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308]

interface RedirectedRequest {
  /** The request's name in the message. */
  readonly name: string
  readonly path: string
  readonly url: string
}

/** The error for an answer that redirects; `undefined` when it does not. */
function redirectErrorOf(response: Response, request: RedirectedRequest): InvalidRequestError | undefined {
  // A browser reveals only that it was a redirect: no status, no headers.
  const isOpaque = response.type === 'opaqueredirect'
  if (!isOpaque && !redirectStatuses.includes(response.status)) return undefined
  const status = isOpaque ? '' : ` (${response.status})`
  const { target, remedy } = targetOf(response.headers.get('location'), request)
  const detail = `The address redirects${status} ${target}, which is not followed, because the key would go with the request. ${remedy}`
  return new InvalidRequestError({
    code: 'redirected',
    serviceCode: undefined,
    status: response.status,
    message: `${request.name}: ${detail}`,
    detail,
    requestId: response.headers.get('x-request-id') ?? undefined,
    faults: [],
    retryAfterMs: undefined,
  })
}

function targetOf(location: string | null, { path, url }: RedirectedRequest) {
  const remedy = 'Use the address of the service itself.'
  const to = urlOfLocation(location, url)
  if (to === undefined) return { target: 'elsewhere', remedy }
  // Without the parts that may be secret: a password, a query.
  const address = `${to.origin}${to.pathname}`
  const target = `to ${address}`
  if (!address.endsWith(path)) return { target, remedy }
  return { target, remedy: `Use ${address.slice(0, -path.length)} as the address.` }
}

/** The address in a `Location`, which may be relative. */
function urlOfLocation(location: string | null, base: string): URL | undefined {
  if (location === null) return undefined
  try {
    return new URL(location, base)
  } catch {
    return undefined
  }
}
