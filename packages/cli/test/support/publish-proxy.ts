/** Stands between `publish` and the service, so that a run can be cut off at a moment of the test's choice. */
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Passing {
  /** How many requests came before this one, of all runs. */
  readonly before: number
  /** Lets the service answer; its answer is given on when `pass` is called, and not before. */
  forward(): Promise<void>
  pass(): void
  /** Answers in place of the service. */
  answer(status: number, body: unknown): void
}

export interface PublishProxy {
  readonly url: string
  /** Decides about each request from now on. Left out, all pass. */
  decide(about: ((passing: Passing) => Promise<void>) | undefined): void
  close(): void
}

export async function startPublishProxy(serviceUrl: string): Promise<PublishProxy> {
  let about: ((passing: Passing) => Promise<void>) | undefined
  let before = 0
  const forward = async (request: IncomingMessage): Promise<Response> =>
    fetch(`${serviceUrl}${request.url ?? ''}`, {
      method: 'POST',
      headers: {
        'x-api-key': String(request.headers['x-api-key']),
        'content-type': String(request.headers['content-type']),
      },
      body: await text(request),
    })
  const server = createServer((request, response) => {
    let answer: { readonly status: number; readonly body: string } | undefined
    const passing: Passing = {
      before: before++,
      async forward() {
        const given = await forward(request)
        answer = { status: given.status, body: await given.text() }
      },
      answer(status, body) {
        answer = { status, body: JSON.stringify(body) }
      },
      pass() {
        response.writeHead(answer?.status ?? 500, { 'content-type': 'application/json' })
        response.end(answer?.body)
      },
    }
    const whole = async (): Promise<void> => {
      await passing.forward()
      passing.pass()
    }
    void (about === undefined ? whole() : about(passing))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    decide(given) {
      about = given
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
