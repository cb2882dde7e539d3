/** Bodies that were compressed on their way. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { freeBytes } from '../../free-bytes.ts'
import { refused } from '../exchange.ts'
import type { Body, Refused } from '../exchange.ts'
import { bodyTooLarge } from './body-headers.ts'

const gunzipAsync = promisify(gunzip)

/** The bytes as they were before gzip, on a thread of Node's pool. Takes `bytes`. More than `maxBytes` are refused before they are made. */
export async function inflate(
  bytes: Buffer,
  maxBytes: number,
): Promise<Extract<Body, { kind: 'bytes' }> | Refused> {
  try {
    const inflated = await gunzipAsync(bytes, { maxOutputLength: maxBytes })
    return { kind: 'bytes', bytes: inflated }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
      return refused(bodyTooLarge(maxBytes))
    }
    const message =
      'The body is not gzip, although Content-Encoding says so; send it as it is, or compress it.'
    return refused({ code: 'invalid_body', errors: [{ pointer: '', code: 'invalid_gzip', message }] })
  } finally {
    freeBytes(bytes)
  }
}
