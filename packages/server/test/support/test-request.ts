/** A request as an operation is given it, without a transport. */
import type { Request } from '../../src/http/exchange.ts'

/** `headers`: by name in lower case. */
export function testRequest(headers: Readonly<Record<string, string>> = {}): Request {
  return {
    id: 'a-request',
    method: 'GET',
    target: '/',
    startedMs: performance.now(),
    head: { version: '1.1', headerCount: Object.keys(headers).length, hosts: ['127.0.0.1'] },
    credential: headers['x-api-key'],
    remote: '127.0.0.1',
    gone: new AbortController().signal,
    header: (name) => headers[name],
    body: () => ({ kind: 'bytes', bytes: Buffer.alloc(0) }),
  }
}
