/** A plain HTTP client for tests: sends exactly what it is told, and follows, decodes and repeats nothing. */
import { request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { TestService } from './test-service.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
}

export interface Call {
  readonly method?: string
  readonly key?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Close the connection without waiting for the answer's end. */
  readonly signal?: AbortSignal
}

/** One request on a connection of its own. `path` goes out as it is, unencoded. */
export function call(target: Pick<TestService, 'port'>, path: string, options: Call = {}): Promise<Answer> {
  const { method = 'GET', key, headers = {}, body, signal } = options
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        host: '127.0.0.1',
        port: target.port,
        path,
        method,
        agent: false,
        headers: {
          ...(key === undefined ? {} : { 'x-api-key': key }),
          ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
          ...headers,
        },
        ...(signal === undefined ? {} : { signal }),
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks)
          const text = bytes.toString()
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: bytes,
            text,
          })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Publishes events of one feed and expects them to be stored. */
export async function publish(
  target: Pick<TestService, 'port' | 'tenant'>,
  events: unknown,
  { key = target.tenant.publishKey, feed = 'property', query = '' } = {},
): Promise<Receipt> {
  const answer = await call(target, `/v1/${feed}-events${query}`, {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(events),
  })
  if (answer.status >= 300) throw new Error(`publishing was answered ${answer.status}: ${answer.text}`)
  return receiptOf(answer)
}

export interface Receipt {
  readonly events: readonly {
    readonly id: string
    readonly sequenceNumber: number
    readonly eventType: number
    readonly eventTypeShortCode: string
    readonly transactionId: string
    readonly createdDate: string
    readonly repeated?: true
    readonly derived?: true
    readonly unchanged?: true
  }[]
  readonly repeated: boolean
  readonly warnings: readonly {
    readonly index: number
    readonly pointer: string
    readonly pointers?: readonly string[]
    readonly code: string
    readonly message: string
  }[]
}

export interface Page {
  readonly items: readonly {
    readonly tenantId: string
    readonly sequenceNumber: number
    readonly eventType: number
    readonly eventTypeShortCode: string
    readonly payload: string
    readonly transactionId: string
    readonly id: string
    readonly createdDate: string
  }[]
  readonly page: number
  readonly pageSize: number
  readonly availableCount: number
  readonly totalPages: number
}

export interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly instance: string
  readonly code: string
  readonly requestId: string
  readonly errors?: readonly {
    readonly parameter?: string
    readonly pointer?: string
    readonly code: string
    readonly message: string
  }[]
}

export function pageOf(answer: Answer): Page {
  return JSON.parse(answer.text) as Page
}

export function problemOf(answer: Pick<Answer, 'text'>): ProblemBody {
  return JSON.parse(answer.text) as ProblemBody
}

export function receiptOf(answer: Answer): Receipt {
  return JSON.parse(answer.text) as Receipt
}

export const listPath = '/api/func/api/v1/events/getevents'
export const getPath = '/api/func/api/v1/events/geteventbyid'
export const contactListPath = '/api/func/api/v1/contactevents/getevents'
export const contactGetPath = '/api/func/api/v1/contactevents/geteventbyid'
