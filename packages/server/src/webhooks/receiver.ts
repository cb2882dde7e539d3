/** The requests to one endpoint's receiver: bounded in time and bytes, verified, never redirected, over connections that are kept. */
import { Agent as HttpAgent, request as requestHttp } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import type { TryOutcome } from './plan.ts'
import { isPublicAddress } from './receiver-address.ts'
import type { AddressCheck, AddressPolicy } from './receiver-address.ts'

/** Whose answers are kept for whoever may see the endpoint: `public`: of receivers at public addresses. */
export type KeptAnswers = 'public' | 'all' | 'none'

/** What an operator says about webhooks. */
export interface WebhookOptions extends AddressPolicy {
  readonly answers: KeptAnswers
}

/** As much of an answer is read, so that its connection can be kept; of a longer one the connection is closed. */
const readBytes = 16 * 1_024
/** As much of it is handed on. */
const keptBytes = 1_024

/** Between two requests. Servers usually close after 5 s and more. */
const idleMs = 4_000

export interface ReceiverRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly timeoutMs: number
}

export type ReceiverAnswer =
  /** `body`: its beginning. `isPublic`: from a public address. `retryAfterMs`: as the receiver wishes to wait. */
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly body: string
      readonly isPublic: boolean
      readonly retryAfterMs: number | undefined
    }
  /** `unanswered`: connected, but no answer came in time, or the connection broke; `stale`: one that was kept, and twice. */
  | { readonly kind: 'unanswered' | 'stale' | 'unreachable'; readonly detail: string }

/**
 * What is kept of an answer, or why there was none. What answers in a network of the operator's was not made to be read by whoever names
 * its address, so its words stay there.
 */
export function keptAnswer(answer: ReceiverAnswer, kept: KeptAnswers): string | undefined {
  if (answer.kind !== 'answered') return answer.detail
  return kept === 'all' || (kept === 'public' && answer.isPublic) ? answer.body : undefined
}

/** Statuses with which a receiver may ask to wait. */
const postponing: readonly number[] = [429, 503]

/** What an answer means for the event that was sent. */
export function outcomeOf(answer: ReceiverAnswer): TryOutcome {
  if (answer.kind === 'unreachable') return { kind: 'unreachable' }
  if (answer.kind !== 'answered') return { kind: 'refused' }
  const { status, retryAfterMs: waitMs } = answer
  if (status >= 200 && status < 300) return { kind: 'acknowledged' }
  return waitMs !== undefined && postponing.includes(status)
    ? { kind: 'postponed', waitMs }
    : { kind: 'refused' }
}

export interface Receiver {
  post(request: ReceiverRequest): Promise<ReceiverAnswer>
  /** Closes its connections. Requests under way end as unanswered. */
  close(): void
}

/** `url`: as `AddressCheck.url` accepted it. `connections`: at most so many at once. */
export function receiverAt(url: URL, check: AddressCheck, connections: number): Receiver {
  const isSecure = url.protocol === 'https:'
  const agentOptions = { keepAlive: true, maxSockets: connections, timeout: idleMs }
  const agent = isSecure ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions)
  // All addresses of a name are asked for at once.
  const connecting = { lookup: checkedLookup(check), autoSelectFamily: true } as const
  // Said again, because variables of the process can say otherwise.
  const verifying = { minVersion: 'TLSv1.2', rejectUnauthorized: true } as const
  const options = { method: 'POST', agent, ...connecting }
  const start: Start = (headers) =>
    isSecure
      ? requestHttps(url, { ...options, ...verifying, headers })
      : requestHttp(url, { ...options, headers })
  // Node looks up names alone.
  const isLiteral = isIP(hostOf(url)) !== 0
  return {
    async post(request) {
      const checked = isLiteral ? await check.host(url.hostname) : undefined
      if (checked !== undefined && checked.kind !== 'checked')
        return { kind: 'unreachable', detail: checked.detail }
      const first = await attempt(start, request)
      // A receiver may close a kept connection just before it is used again: nothing was answered, and nothing is wrong.
      return first.kind === 'stale' ? attempt(start, request) : first
    },
    close: () => agent.destroy(),
  }
}

type Start = (headers: Readonly<Record<string, string>>) => ClientRequest

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** A connection is made to the addresses that were checked for it. */
function checkedLookup(check: AddressCheck): LookupFunction {
  return callbackify(async (hostname: string, _options: LookupOptions): Promise<LookupAddress[]> => {
    const checked = await check.host(hostname)
    if (checked.kind !== 'checked') throw new HostRefused(checked.detail)
    return [...checked.addresses]
  })
}

function attempt(start: Start, { headers, body, timeoutMs }: ReceiverRequest): Promise<ReceiverAnswer> {
  return new Promise((resolve) => {
    const sent = start({ ...headers, 'content-length': String(body.byteLength) })
    let isConnected = false
    let isAnswered = false
    const end = (answer: ReceiverAnswer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    const timer = setTimeout(() => {
      const detail = `There was no answer within ${timeoutMs / 1_000} s.`
      if (!isAnswered) end({ kind: isConnected ? 'unanswered' : 'unreachable', detail })
      sent.destroy()
    }, timeoutMs)
    sent.once('socket', (socket) => {
      isConnected = sent.reusedSocket
      // A reused connection emits no such event, and each request would add a listener that stays.
      if (isConnected) return
      // Before a handshake has ended nothing of the message is sent.
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => (isConnected = true))
    })
    sent.once('response', (response) => {
      isAnswered = true
      readAnswer(response, end)
    })
    sent.once('upgrade', (response, socket) => {
      socket.destroy()
      readAnswer(response, end)
    })
    sent.on('error', (error) => {
      const kind = sent.reusedSocket ? 'stale' : isConnected ? 'unanswered' : 'unreachable'
      end({ kind, detail: detailOf(error) })
    })
    sent.end(body)
  })
}

/** What the head says counts, however the rest of the answer goes. */
function readAnswer(response: IncomingMessage, end: (answer: ReceiverAnswer) => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  const { remoteAddress } = response.socket
  const isPublic = remoteAddress !== undefined && isPublicAddress(remoteAddress)
  const finish = () => {
    const body = textOf(Buffer.concat(chunks).subarray(0, keptBytes))
    const { statusCode: status = 0, headers } = response
    end({ kind: 'answered', status, body, isPublic, retryAfterMs: retryAfterMs(headers['retry-after']) })
  }
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > readBytes) response.destroy()
  })
  response.once('close', finish)
  response.once('error', () => undefined)
}

/** Without the sign that the end cuts, and without NUL, which PostgreSQL takes in no text. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\ufffd')
}

/** Seconds, or a date. */
function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const waitMs = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs)
}

class HostRefused extends Error {}

/** In words that are safe to show: system errors name addresses inside. */
function detailOf(error: Error): string {
  if (error instanceof HostRefused) return error.message
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'
  return `The connection failed (${code}).`
}
