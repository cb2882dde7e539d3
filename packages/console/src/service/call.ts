/** Sends operations through the door of the console. No other part of the console sends requests. */
import { signal } from '@preact/signals'
import { withQuery } from '../base.ts'
import { base } from '../root.ts'
import { readToken, tokenHeader } from '../session/session-token.ts'
import type { Operation } from './operation.ts'
import { awayFailure, failureOf, oddFailure } from './failure.ts'
import type { Failure, Outcome } from './failure.ts'

interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** The tag of an earlier answer: 304 if nothing has changed since. */
  readonly etag?: string | undefined
}

/** Called when the service says that the session is over. Set once, by the session. */
let sessionEnded: (failure: Failure) => void = () => undefined
export function onSessionEnded(listener: (failure: Failure) => void): void {
  sessionEnded = listener
}

/** Sends an operation with the session that is signed in. Never throws. */
export async function call<T>(operation: Operation<T>, options: CallOptions = {}): Promise<Outcome<T>> {
  const { path, query } = operation
  const outcome = await send<T>(`${base}/api${withQuery(path, query)}`, operation, options)
  if (outcome.kind === 'failure') endIfOver(outcome.failure)
  return outcome
}

/** Ends the session here if a failure says that it is over. */
function endIfOver(failure: Failure): void {
  if (failure.kind === 'ended') sessionEnded(failure)
}

/** The same for an address of the console itself, such as its session. */
export async function send<T>(
  url: string,
  { method, body, text: written, tenant }: Pick<Operation<T>, 'method' | 'body' | 'text' | 'tenant'>,
  { signal, etag }: CallOptions = {},
): Promise<Outcome<T>> {
  try {
    const response = await ask(
      url,
      {
        method,
        headers: {
          ...(tenant === undefined ? {} : { 'x-tenant': tenant }),
          ...(etag === undefined ? {} : { 'if-none-match': etag }),
        },
        text: written ?? (body === undefined ? undefined : JSON.stringify(body)),
      },
      signal,
    )
    const text = await response.text()
    recordAnswer()
    return outcomeOf<T>(response, text)
  } catch {
    if (signal?.aborted === true) return { kind: 'stopped' }
    recordSilence()
    return { kind: 'failure', failure: awayFailure() }
  }
}

interface Asking {
  readonly method: string | undefined
  readonly headers: Readonly<Record<string, string>>
  /** The type of the body, which is JSON. */
  readonly text: string | undefined
}

/** The request itself. Rejects if no answer comes. */
function ask(
  url: string,
  { method = 'GET', headers, text }: Asking,
  signal: AbortSignal | undefined,
): Promise<Response> {
  return fetch(url, {
    method,
    headers: {
      ...sessionHeaders(),
      ...headers,
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: text ?? null,
    signal: signal ?? null,
    redirect: 'error',
    // Tags are compared here; the browser's own cache would hide a 304.
    cache: 'no-store',
  })
}

/** The part of the session that goes with every request. */
function sessionHeaders(): Readonly<Record<string, string>> {
  const token = readToken()
  return token === undefined ? {} : { [tokenHeader]: token }
}

function outcomeOf<T>({ status, ok, headers }: Response, text: string): Outcome<T> {
  if (status === 304) return { kind: 'unchanged' }
  if (!ok) return { kind: 'failure', failure: failureOf(status, text, (name) => headers.get(name)) }
  try {
    const value: T = text === '' ? undefined : JSON.parse(text)
    return { kind: 'answer', value, status, head: headers }
  } catch {
    const requestId = headers.get('x-request-id') ?? undefined
    return {
      kind: 'failure',
      failure: oddFailure('The answer is not from this service: it is not JSON.', status, requestId),
    }
  }
}

/** Whether the service answers. Every request records it, and the frame shows it. */
interface Connection {
  /** When the service last answered anything, in milliseconds. */
  readonly answeredAt: number
  /** Since when the service has not answered; `undefined`: it does. */
  readonly awaySince: number | undefined
}

export const connection = signal<Connection>({ answeredAt: Date.now(), awaySince: undefined })

function recordAnswer(): void {
  connection.value = { answeredAt: Date.now(), awaySince: undefined }
}

function recordSilence(): void {
  const { answeredAt, awaySince } = connection.value
  connection.value = { answeredAt, awaySince: awaySince ?? Date.now() }
}
