/** A reader of `text/event-stream`, with a foreign parser. */
import { request } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { createParser } from 'eventsource-parser'
import type { EventSourceMessage } from 'eventsource-parser'
import type { TestService } from './test-service.ts'
import { until } from './until.ts'

export interface StreamReader {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** All that came, in order. */
  readonly messages: readonly EventSourceMessage[]
  /** Numbers of the events among them. */
  readonly numbers: () => readonly number[]
  readonly lastId: string | undefined
  /** What `retry` said. */
  readonly retryMs: number | undefined
  /** The connection has ended, by whomever. */
  readonly hasEnded: boolean
  /** Takes nothing until the function returned is called. */
  rest(): () => void
  until(condition: (reader: StreamReader) => boolean, what: string): Promise<void>
  close(): void
}

export interface StreamCall {
  /** Left out: what the headers have stands in its place. */
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Resolves with the head of the answer. */
export function openStream(
  target: Pick<TestService, 'port'>,
  path: string,
  { key, headers = {} }: StreamCall,
): Promise<StreamReader> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: target.port,
        path,
        agent: false,
        headers: { ...(key === undefined ? {} : { 'x-api-key': key }), ...headers },
      },
      (incoming) => resolve(readerOf(incoming, () => outgoing.destroy())),
    )
    outgoing.on('error', reject)
    outgoing.end()
  })
}

function readerOf(incoming: IncomingMessage, close: () => void): StreamReader {
  const messages: EventSourceMessage[] = []
  let retryMs: number | undefined
  let hasEnded = false
  const parser = createParser({
    onEvent: (message) => messages.push(message),
    onRetry: (ms) => (retryMs = ms),
    onError(error) {
      throw error
    },
  })
  incoming.setEncoding('utf8')
  incoming.on('data', (text: string) => parser.feed(text))
  incoming.on('error', () => undefined)
  incoming.on('close', () => (hasEnded = true))
  const reader: StreamReader = {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    messages,
    numbers: () => messages.filter(({ event }) => event === undefined).map(({ data }) => numberOf(data)),
    get lastId() {
      return messages.at(-1)?.id
    },
    get retryMs() {
      return retryMs
    },
    get hasEnded() {
      return hasEnded
    },
    rest() {
      incoming.pause()
      return () => void incoming.resume()
    },
    until: (condition, what) => until(() => condition(reader), { what }),
    close,
  }
  return reader
}

function numberOf(data: string): number {
  const { sequenceNumber }: { sequenceNumber: number } = JSON.parse(data)
  return sequenceNumber
}
