/** What failed, as a problem: errors of the store, of the framework and of Node's HTTP parser. */
import type { FastifyError } from 'fastify'
import { StorageFailure } from '../storage/storage.ts'
import type { HttpContext } from './context.ts'
import type { Refusal } from './problem.ts'
import { bodyTooLarge } from './request-body.ts'

/** A thrown error to what the caller is told. Nothing of its message gets out. */
export function refusalOfError(error: unknown, maxBodyBytes: number): Refusal {
  if (error instanceof StorageFailure) {
    const isForNow = error.code === 'storage_closed' || error.code === 'feed_locked'
    return { code: isForNow ? 'storage_unavailable' : error.code }
  }
  switch (codeOf(error)) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge(maxBodyBytes)
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return { code: 'unsupported_media_type' }
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'ECONNRESET':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return { code: 'malformed_request', detail: 'The body is shorter or longer than its Content-Length.' }
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
    case 'FST_ERR_ASYNC_CONSTRAINT':
      return { code: 'invalid_target', detail: 'The path is not valid percent-encoded UTF-8.' }
    default:
      return { code: 'internal_error' }
  }
}

/** The same; its cause goes to the log where the caller is told nothing of it. */
export function reportedRefusal(
  { limits, log }: Pick<HttpContext, 'limits' | 'log'>,
  requestId: string,
  error: unknown,
): Refusal {
  const refusal = refusalOfError(error, limits.maxBodyBytes)
  if (refusal.code === 'internal_error' || refusal.code.startsWith('storage_')) {
    log.error({ requestId, err: error }, 'request failed')
  }
  return refusal
}

function codeOf(error: unknown): string {
  return isCoded(error) ? error.code : ''
}

function isCoded(error: unknown): error is Pick<FastifyError, 'code'> {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}

/** As Node emits it; `rawPacket` is what it was reading. */
export type ClientError = NodeJS.ErrnoException & { readonly rawPacket?: unknown }

/** An error of Node's HTTP parser or of its time-outs, for a request that never became one. `undefined`: just close. */
export function refusalOfClientError(error: ClientError): Refusal | undefined {
  switch (error.code ?? '') {
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined
    case 'HPE_HEADER_OVERFLOW':
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { code: 'headers_too_large' }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'request_timeout' }
    case 'HPE_INVALID_VERSION':
      // The parser says the same of a request line that ends in a bare line feed.
      return /^[^\r\n]* HTTP\/\d\.\d\r\n/.test(
        Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1') : '',
      )
        ? { code: 'unsupported_http_version' }
        : { code: 'malformed_request' }
    default:
      return { code: 'malformed_request' }
  }
}
