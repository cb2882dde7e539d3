/** Webhooks over HTTP, and a receiver on this machine. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { feedNames } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { MadeWebhook, NewWebhook } from '@property-events/protocol/wire'
import { call } from './http-client.ts'
import type { Answer } from './http-client.ts'
import type { IssueOptions, TestService } from './test-service.ts'

/** A service that may post to this machine. */
export const toThisMachine = {
  webhooks: { allowHttp: true, networks: ['127.0.0.0/8'], answers: 'all' },
} as const

/** An address that is public; a service of the tests sends nothing there. */
export const publicUrl = 'https://8.8.8.8/bachau?siop=Caerdydd'

/** A key that reads both feeds and has them posted. */
export async function webhookKey(
  service: TestService,
  { feeds = feedNames, tenantId = service.tenant.tenantId, ...limits }: Partial<Limits> = {},
): Promise<string> {
  const scopes = feeds.flatMap((feed) => [`${feed}:read`, `${feed}:webhooks`] as const)
  return (await service.issue({ grants: [{ tenantId, scopes, ...limits }] })).text
}

type Limits = Pick<NonNullable<IssueOptions['grants']>[number], 'branches' | 'contact' | 'tenantId'> & {
  readonly feeds: readonly FeedName[]
}

/** A request to `/v1/webhooks` and what is below it. */
export function ask(
  service: Pick<TestService, 'port'>,
  key: string,
  method: string,
  path = '',
  body?: unknown,
): Promise<Answer> {
  const sent =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return call(service, `/v1/webhooks${path}`, { method, key, ...sent })
}

export async function makeWebhook(
  service: Pick<TestService, 'port'>,
  key: string,
  settings: Partial<NewWebhook> = {},
): Promise<MadeWebhook> {
  const body = { url: publicUrl, feed: 'property', ...settings }
  const answer = await ask(service, key, 'POST', '', body)
  assert.equal(answer.status, 201, answer.text)
  const made: MadeWebhook = JSON.parse(answer.text)
  return made
}

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface ReceiverAnswer {
  readonly status: number
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What comes, and how it is answered. */
export async function startReceiver(answer: () => ReceiverAnswer | Promise<ReceiverAnswer>) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(pieces).toString() })
      void Promise.resolve(answer()).then(({ status, text, headers }) =>
        response.writeHead(status, headers).end(text),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return {
    url: `http://127.0.0.1:${address.port}/bachau`,
    received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
