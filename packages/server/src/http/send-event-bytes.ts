/** Sending stored bytes as they are, without joining or re-serialising them. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ContentCoding, PageBody } from '../pages/index.ts'
import { success } from './problem.ts'

const gzipAsync = promisify(gzip)

/** Below this, a gzip header and another trip through the thread pool cost more than they save. */
const minGzipBytes = 1_024

/** Level 1: an event's 4.5 kB lose two thirds of their bytes either way. */
const gzipLevel = 1

/** Answers 200 with one stored event. The reply's headers are already set. */
export async function sendEvent(
  request: FastifyRequest,
  reply: FastifyReply,
  json: Uint8Array,
  coding: ContentCoding,
): Promise<void> {
  const encoded = await encodeEvent(eventBody(json), coding)
  sendBody(request, reply, encoded.body, encoded.coding)
}

/** One stored event as a body. */
export function eventBody(json: Uint8Array): PageBody {
  return { pieces: [json], byteLength: json.byteLength, release: () => undefined }
}

interface EncodedEvent {
  readonly body: PageBody
  readonly coding: ContentCoding
}

/** Compresses an event where that is wanted and worth it; the given body is then released. */
export function encodeEvent(event: PageBody, coding: ContentCoding): EncodedEvent | Promise<EncodedEvent> {
  if (coding === 'identity' || event.byteLength < minGzipBytes) return { body: event, coding: 'identity' }
  return compress(event)
}

async function compress(event: PageBody): Promise<EncodedEvent> {
  const [json = new Uint8Array()] = event.pieces
  try {
    return { body: eventBody(await gzipAsync(json, { level: gzipLevel })), coding: 'gzip' }
  } finally {
    event.release()
  }
}

/**
 * Answers 200 with the body's pieces, past the framework, which would want one buffer. The reply's headers are already
 * set. The body is released when the last byte has been handed over, or the connection is gone.
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
  const headers: OutgoingHttpHeaders = {}
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) headers[name] = value
  }
  writeBody(raw, headers, body, coding, request.method !== 'HEAD')
}

/** What is said of a body, apart from its coding. */
export function bodyHeaders(body: PageBody): Readonly<Record<string, string | number>> {
  return { 'content-type': 'application/json', 'content-length': body.byteLength }
}

/** Writes head and pieces; corked, they leave in one writev. */
function writeBody(
  response: ServerResponse,
  given: OutgoingHttpHeaders,
  body: PageBody,
  coding: ContentCoding,
  withPieces: boolean,
): void {
  const headers: OutgoingHttpHeaders = { ...bodyHeaders(body), ...given }
  if (coding !== 'identity') headers['content-encoding'] = coding
  // All at once: each setHeader would be looked up and checked by itself.
  response.writeHead(success.ok, headers)
  if (withPieces) {
    response.cork()
    for (const piece of body.pieces) response.write(piece)
  }
  response.end()
}

/** The client went away: whatever would still be done for it is wasted. Ends the handling without an answer. */
export function gaveUp(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!request.raw.socket.destroyed) return false
  reply.hijack()
  return true
}
