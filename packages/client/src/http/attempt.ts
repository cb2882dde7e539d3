/** One attempt: its limits (the signal of the caller, silence, the deadline of the call), and the sentences for one that did not get through. */
import type { Connection } from '../connection.ts'
import { AbortedError, NetworkError } from '../errors.ts'
import type { PropertyEventsError } from '../errors.ts'
import type { CodeOf } from '../codes.ts'
import { isObject } from '../decode.ts'

export interface Attempt {
  /** Ends the request when one of the limits is reached, or `end` is called. */
  readonly signal: AbortSignal
  /** From now on, silence ends the attempt. */
  listen(): void
  /** The caller is reading: until `listen`, a pause is not the sender's silence. */
  pause(): void
  /** The deadline no longer ends the attempt. */
  lift(): void
  /** The error to throw for an error that ended the attempt; it says which limit was the reason. */
  explain(cause: unknown): PropertyEventsError
  /** The attempt is over; no limit ends it any more. */
  settle(): void
  /** Closes the connection if it is still open. */
  end(): void
}

/** Begins to listen. `endsAt`: when the call as a whole has to end, by the connection's clock; without it, never. */
export function beginAttempt(
  connection: Connection,
  /** For messages. */
  name: string,
  signal: AbortSignal | undefined,
  endsAt: number | undefined,
): Attempt {
  if (signal?.aborted === true) throw new AbortedError({ cause: signal.reason })
  const controller = new AbortController()
  let reached: 'silence' | 'deadline' | undefined
  let silence: ReturnType<typeof setTimeout> | undefined
  const reach = (limit: 'silence' | 'deadline') => {
    reached ??= limit
    controller.abort()
  }
  const onAbort = () => controller.abort()
  const deadline =
    endsAt === undefined
      ? undefined
      : setTimeout(() => reach('deadline'), Math.max(0, endsAt - connection.now()))
  const settle = () => {
    clearTimeout(silence)
    clearTimeout(deadline)
    signal?.removeEventListener('abort', onAbort)
  }
  const listen = () => {
    clearTimeout(silence)
    silence = setTimeout(() => reach('silence'), connection.attemptTimeoutMs)
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  listen()
  return {
    signal: controller.signal,
    listen,
    pause: () => clearTimeout(silence),
    lift: () => clearTimeout(deadline),
    explain(cause) {
      settle()
      if (signal?.aborted === true) return new AbortedError({ cause: signal.reason })
      if (reached === 'silence') {
        return new NetworkError('deadline', `${name}: nothing arrived for ${connection.attemptTimeoutMs} ms.`)
      }
      if (reached === 'deadline') {
        return new NetworkError(
          'deadline',
          `${name}: the call reached its deadlineMs of ${connection.deadlineMs} ms before the answer was complete.`,
        )
      }
      const fault = transportFaultOf(cause, connection.baseUrl)
      if (fault !== undefined) {
        return new NetworkError(fault.code, `${name}: ${fault.sentence}`, cause, fault.attempts)
      }
      return new NetworkError('network', `${name}: ${reasonOf(cause)}`, cause)
    },
    settle,
    end: () => controller.abort(),
  }
}

/** fetch hides the reason in `cause`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection failed.'
  const inner = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error.message}${inner}`
}

/** What a failed connection says about its reason: some reasons last until somebody changes something. */
interface TransportFault {
  readonly code: CodeOf<'network'>
  readonly sentence: string
  readonly attempts?: number
}

/**
 * A name that is not known yet may be known in a moment, as where containers start together; a name that is written wrongly is never
 * known. So it is asked for a few times, and not for half a minute. A resolver that cannot answer at all (EAI_AGAIN) is an outage.
 */
const nameAttempts = 3

/** `undefined`: an outage, as far as one can see. */
function transportFaultOf(error: unknown, baseUrl: string): TransportFault | undefined {
  for (const found of reasonsOf(error)) {
    const fault = faultOf(found, baseUrl)
    if (fault !== undefined) return fault
  }
  return undefined
}

function faultOf({ code, message }: Reason, baseUrl: string): TransportFault | undefined {
  const host = baseUrl.replace(/^\w+:\/\/|\/.*$/g, '')
  const reason = reasonText({ code, message })
  if (isOfCertificate(code, message)) {
    return {
      code: 'certificate',
      sentence: `The certificate of ${host} cannot be verified (${reason}). The key was not sent. Use the name that the certificate is for, have it renewed, or give this program the authority that signed it (NODE_EXTRA_CA_CERTS names its file).`,
    }
  }
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/.test(code)) {
    return {
      code: 'tls',
      sentence: `${host} answers without TLS (${reason}). Does its address begin with http:// in place of https://, or has it another port?`,
    }
  }
  if (isOfTls(code)) {
    return { code: 'tls', sentence: `No TLS connection to ${host} is possible (${reason}).` }
  }
  if (code.startsWith('HPE_')) {
    const isTls = baseUrl.startsWith('http:')
      ? ' Does its address begin with https:// in place of http://?'
      : ''
    return {
      code: 'not_http',
      sentence: `${host} answers with something other than HTTP (${reason}).${isTls}`,
    }
  }
  if (code === 'ENOTFOUND') {
    return {
      code: 'unknown_host',
      sentence: `The name ${host.replace(/:\d+$/, '')} is not known (${reason}). Is it spelt right?`,
      attempts: nameAttempts,
    }
  }
  if (message === 'bad port') {
    return { code: 'not_http', sentence: `The port of ${host} is not one of HTTP: clients refuse to use it.` }
  }
  return undefined
}

/** OpenSSL's own messages name places in its source: its code says the same. */
function reasonText({ code, message }: Reason): string {
  if (code.startsWith('ERR_SSL_')) return code
  return code === '' || message.includes(code) ? message : `${code}: ${message}`
}

/**
 * Whether a server that closed a connection without a byte of an answer expects TLS on it. It is asked once with TLS, without the key and
 * for nothing.
 */
export async function wantsTls(
  fetch: typeof globalThis.fetch,
  error: unknown,
  url: string,
): Promise<boolean> {
  if (!url.startsWith('http:') || !isUnanswered(error)) return false
  try {
    const { origin } = new URL(url.replace(/^http:/, 'https:'))
    await fetch(origin, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(tlsAnswerMs) })
    return true
  } catch (cause) {
    return transportFaultOf(cause, url)?.code === 'certificate'
  }
}

const tlsAnswerMs = 3_000

function isUnanswered(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  if (!isObject(cause) || (cause['code'] !== 'UND_ERR_SOCKET' && cause['code'] !== 'ECONNRESET')) return false
  const { socket } = cause
  return !isObject(socket) || socket['bytesRead'] === 0
}

interface Reason {
  readonly code: string
  readonly message: string
}

/** fetch hides the reason in the cause of its error; a name with several addresses has a reason for each. */
function* reasonsOf(error: unknown, depth = 0): Generator<Reason> {
  if (!(error instanceof Error) || depth > 5) return
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  yield { code, message: error.message }
  if (error instanceof AggregateError) for (const one of error.errors) yield* reasonsOf(one, depth + 1)
  yield* reasonsOf(error.cause, depth + 1)
}

/** Node's codes are OpenSSL's reasons for a chain that is not accepted. */
function isOfCertificate(code: string, message: string): boolean {
  return (
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|CRL_|ERROR_IN_CERT_|ERR_TLS_CERT_|ERR_TLS_INVALID_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED)/.test(
      code,
    ) || /invalid peer certificate|unknown certificate verification error/i.test(message)
  )
}

/** What both sides would have to agree on first. A broken record or a closed connection may pass. */
function isOfTls(code: string): boolean {
  return (
    /^ERR_SSL_|^ERR_TLS_/.test(code) &&
    !/DECRYPTION_FAILED|BAD_RECORD_MAC|UNEXPECTED_EOF|INTERNAL_ERROR/.test(code)
  )
}
