/** Sending stored bytes as they are, without joining or re-serialising them. */
import type { OutgoingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ContentCoding, PageBody } from '../pages/index.ts'
import { success } from './problem.ts'

const gzipAsync = promisify(gzip)

/** Below this, a gzip header and another trip through the thread pool cost more than they save. */
export const minGzipBytes = 1_024

/** Level 1: an event's 4.5 kB lose two thirds of their bytes either way. */
const gzipLevel = 1

/** Answers 200 with one stored event. The reply's headers are already set. */
export async function sendEvent(
  request: FastifyRequest,
  reply: FastifyReply,
  json: Uint8Array,
  coding: ContentCoding,
): Promise<void> {
  if (coding === 'identity' || json.byteLength < minGzipBytes) {
    sendBody(request, reply, ownBody(json), 'identity')
    return
  }
  const zipped = await gzipAsync(json, { level: gzipLevel })
  sendBody(request, reply, ownBody(zipped), 'gzip')
}

function ownBody(bytes: Uint8Array): PageBody {
  return { pieces: [bytes], byteLength: bytes.byteLength, release: () => undefined }
}

/**
 * Answers 200 with the body's pieces, past the framework, which would want one buffer: corked, they leave in one writev.
 * The body is released when the last byte has been handed over, or the connection is gone.
 */
export function sendBody(
  request: FastifyRequest,
  reply: FastifyReply,
  body: PageBody,
  coding: ContentCoding,
): void {
  reply.hijack()
  const { raw } = reply
  raw.on('close', () => body.release())
  const headers: OutgoingHttpHeaders = {
    'content-type': 'application/json',
    'content-length': body.byteLength,
  }
  if (coding !== 'identity') headers['content-encoding'] = coding
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) headers[name] = value
  }
  // All at once: each setHeader would be looked up and checked by itself.
  raw.writeHead(success.ok, headers)
  if (request.method === 'HEAD') {
    raw.end()
    return
  }
  raw.cork()
  for (const piece of body.pieces) raw.write(piece)
  raw.end()
}

/** The client went away: whatever would still be done for it is wasted. Ends the handling without an answer. */
export function gaveUp(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!request.raw.socket.destroyed) return false
  reply.hijack()
  return true
}
