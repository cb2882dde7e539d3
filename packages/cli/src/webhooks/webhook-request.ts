/** Requests to the operations on webhooks (PROTOCOL §16.1). Each is sent once: a second `create` would make a second webhook. */
import { Refusal } from '../refusal.ts'
import type { ServiceAddress } from '../service-client.ts'
import { plainText } from '../terminal-text.ts'

/** A test waits for the receiver as long as the webhook does, 30 s at most. */
const timeoutMs = 45_000

export interface WebhookRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** After `/v1/webhooks`. */
  readonly path?: string
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: Readonly<Record<string, unknown>>
}

/** The JSON of the answer. Throws a `Refusal` with the service's own words, or that it does not answer. */
export async function askService<Answer>(
  { baseUrl, key, tenant }: ServiceAddress,
  { method, path = '', query = {}, body }: WebhookRequest,
): Promise<Answer> {
  const asked = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) asked.set(name, value)
  const url = `${baseUrl.replace(/\/+$/, '')}/v1/webhooks${path}${asked.size === 0 ? '' : `?${asked.toString()}`}`
  const headers = {
    'x-api-key': key,
    ...(tenant === undefined ? {} : { 'x-tenant': tenant }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const signal = AbortSignal.timeout(timeoutMs)
  // A key is sent to no other address.
  const request = { method, headers, redirect: 'error', signal } as const
  try {
    const answer = await fetch(url, body === undefined ? request : { ...request, body: JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw refusalOf(answer, text)
    const value: Answer = text === '' ? undefined : JSON.parse(text)
    return value
  } catch (error) {
    throw error instanceof Refusal ? error : unanswered(baseUrl, error)
  }
}

function unanswered(baseUrl: string, error: unknown): Refusal {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const words = code === '' ? (cause instanceof Error ? cause.message : String(cause)) : code
  return new Refusal(
    `${baseUrl} does not answer (${plainText(words)}). Is the service running, and is PROPERTY_EVENTS_URL or --url right?`,
  )
}

function refusalOf({ status }: Response, text: string): Refusal {
  const problem = problemIn(text)
  if (problem === undefined)
    return new Refusal(
      `The service answers ${status} without saying why. Is PROPERTY_EVENTS_URL or --url the address of property-events?`,
    )
  const { detail, code, requestId } = problem
  const origin = [String(status), code, requestId === undefined ? undefined : `request ${requestId}`]
  return new Refusal(plainText(`${detail} (${origin.filter((word) => word !== undefined).join(', ')})`))
}

interface Problem {
  readonly detail: string
  readonly code: string | undefined
  readonly requestId: string | undefined
}

function problemIn(text: string): Problem | undefined {
  const value = parsed(text)
  if (!isObject(value) || typeof value['detail'] !== 'string') return undefined
  const faults = Array.isArray(value['errors']) ? value['errors'].flatMap(faultText) : []
  return {
    detail: [value['detail'], ...faults].join(' '),
    code: textIn(value['code']),
    requestId: textIn(value['requestId']),
  }
}

function faultText(fault: unknown): readonly string[] {
  return isObject(fault) && typeof fault['message'] === 'string' ? [fault['message']] : []
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
