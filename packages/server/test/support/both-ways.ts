/** The same request sent twice: in plain form, and with a header that has Node's HTTP read it, which says nothing else. */
import { randomUUID } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { gunzipSync } from 'node:zlib'
import { call } from './http-client.ts'
import type { Call } from './http-client.ts'
import type { TestService } from './test-service.ts'
import { until } from './until.ts'

export interface Request extends Call {
  readonly path: string
}

const byNode = { 'proxy-connection': 'keep-alive' }

/** What does not depend on when a request came, whose it was, and what the service chose for it. */
export interface Compared {
  readonly status: number
  /** In their order. */
  readonly headers: readonly (readonly [string, unknown])[]
  readonly text: string
  readonly logged: readonly Readonly<Record<string, unknown>>[]
}

const idPattern = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi

/** Both answers, with their lines in the log. `keys`: of two tenants that went through the same, where the request changes something. */
export async function askBothWays(
  service: TestService,
  { path, ...request }: Request,
  keys: readonly [string | undefined, string | undefined] = [request.key, request.key],
): Promise<readonly [plain: Compared, byNode: Compared]> {
  const sent = new Set(String(request.body ?? '').match(idPattern) ?? [])
  const requestId = `both-${randomUUID()}`
  const ask = async (key: string | undefined, more: Readonly<Record<string, string>>): Promise<Compared> => {
    const from = service.logLines.length
    const headers = { ...request.headers, ...more, 'x-request-id': requestId }
    const answer = await call(service, path, { ...request, key, headers })
    const lines = () => service.logLines.slice(from).filter((line) => line.includes(requestId))
    await until(() => lines().some((line) => line.includes('"request"')), { what: `a log line for ${path}` })
    const zipped = answer.headers['content-encoding'] === 'gzip'
    // How a page is compressed depends on whether its parts are sealed already, which may come in between.
    const own = (name: string): boolean => name === 'date' || (zipped && name === 'content-length')
    const text = zipped && answer.body.length > 0 ? gunzipSync(answer.body).toString() : answer.text
    return {
      status: answer.status,
      headers: Object.entries(answer.headers)
        .filter(([name]) => !own(name))
        .map(([name, value]) => [name, name === 'x-feed-complete-until' ? 'a moment' : value]),
      text: text
        .replaceAll(/"createdDate":"[^"]*"/g, '"createdDate":""')
        .replaceAll(idPattern, (id) => (keys[0] === keys[1] || sent.has(id) ? id : 'an id')),
      logged: lines().map((line) => comparableLine(line)),
    }
  }
  return [await ask(keys[0], {}), await ask(keys[1], byNode)]
}

function comparableLine(line: string): Readonly<Record<string, unknown>> {
  const { time, durationMs, keyId, tenantId, err, ...same } = JSON.parse(line)
  const known = { time, durationMs, keyId, tenantId }
  const types = Object.entries(known).map(([name, value]) => `${name}: ${typeof value}`)
  return { ...same, types, error: err?.message }
}

/** How many requests Node's HTTP was given meanwhile. */
export async function readByNodeDuring(work: () => Promise<unknown>): Promise<number> {
  let count = 0
  const onStart = (): void => void (count += 1)
  subscribe('http.server.request.start', onStart)
  await work().finally(() => unsubscribe('http.server.request.start', onStart))
  return count
}
