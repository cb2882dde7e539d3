/**
 * A service with a feed of any length and no store: it answers the operations that the console asks, by the contract's arithmetic, and
 * serves the built console under its policy. For what a real store would take minutes to hold; everything else is tried with a real one.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const built = join(import.meta.dirname, '../../built')
export const fakeTenant = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'

export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

export interface FakeService {
  readonly url: string
  /** How many events the feed has. It can be raised at any time. */
  count: number
  /** While it is, every connection is closed without an answer. */
  isAway: boolean
  /** Texts that stand in the fields of every payload. */
  texts: Readonly<Record<string, string>>
  /** Paths and queries of the operations that were asked for. */
  readonly asked: string[]
  close(): Promise<void>
}

/** 100 events a second since the beginning of 2025. */
const stepMs = 10
const beginMs = Date.UTC(2025, 0, 1)

export async function startFakeService(count: number): Promise<FakeService> {
  const server = createServer((request, response) => answer(service, request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const service: FakeService = {
    url: `http://127.0.0.1:${port}`,
    count,
    isAway: false,
    texts: {},
    asked: [],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return service
}

export function fakeEvent({ texts }: Pick<FakeService, 'texts'>, number: number): object {
  const shortCode = typeOf(number)
  const reference = `00000000-0000-4000-8000-${String(number % 5_000).padStart(12, '0')}`
  const payload = {
    agent_ref: reference,
    published: shortCode === 'PropertyUpdated',
    address: { display_address: texts['address'] ?? `${number} Mill Lane`, town: texts['town'] ?? 'Aylsham' },
    price_information: { price: 100_000 + (number % 900_000) },
    details: { description: texts['description'] ?? 'A house.' },
  }
  return {
    tenantId: fakeTenant,
    sequenceNumber: number,
    eventType: shortCode === 'PropertyUpdated' ? 0 : 1,
    eventTypeShortCode: shortCode,
    payload: JSON.stringify(payload),
    transactionId: reference,
    id: `00000000-0000-4000-9000-${String(number).padStart(12, '0')}`,
    createdDate: dateOf(number),
  }
}

const removal = 'PropertyUnpublished'

function typeOf(number: number): string {
  return number % 9 === 0 ? removal : 'PropertyUpdated'
}

export function dateOf(number: number): string {
  return `${new Date(beginMs + number * stepMs).toISOString().slice(0, 23)}0000`
}

function answer(service: FakeService, request: IncomingMessage, response: ServerResponse): void {
  if (service.isAway) {
    request.socket.destroy()
    return
  }
  const { pathname, searchParams } = new URL(request.url ?? '/', service.url)
  if (pathname.startsWith('/console/api/')) {
    service.asked.push(`${pathname.slice('/console/api'.length)}?${searchParams.toString()}`)
    send(response, answerOf(service, pathname.slice('/console/api'.length), searchParams), request)
  } else if (pathname === '/console/session') send(response, session(service))
  else if (/^\/console\/[\w-]+\.(?:js|css)$/.test(pathname)) {
    const type = pathname.endsWith('.js') ? 'text/javascript' : 'text/css'
    sendFile(response, pathname.slice('/console/'.length), type)
  } else if (/^\/console(?:\/[^.]*)?$/.test(pathname))
    sendFile(response, 'index.html', 'text/html; charset=utf-8')
  else send(response, undefined)
}

function sendFile(response: ServerResponse, name: string, type: string): void {
  response.writeHead(200, { 'content-type': type, 'content-security-policy': policy })
  response.end(readFileSync(join(built, name)))
}

function send(response: ServerResponse, body: unknown, request?: IncomingMessage): void {
  const text = JSON.stringify(
    body ?? { title: 'x', detail: 'There is nothing here.', code: 'path_not_found', requestId: 'r' },
  )
  const etag = `"${text.length}-${text.slice(-40).replaceAll(/[^\w]/g, '')}"`
  if (body !== undefined && request?.headers['if-none-match'] === etag) {
    response.writeHead(304).end()
    return
  }
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json', etag })
  response.end(text)
}

function session({ url }: FakeService): object {
  const key = {
    keyId: '4fgHt8Kq2LmN',
    label: 'console',
    operator: true,
    scopes: ['admin:inspect', 'admin:manage'],
    grants: [],
    networks: [],
    rate: null,
    createdAt: '2026-01-01T00:00:00Z',
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    replaces: null,
  }
  const date = '2026-01-01T00:00:00.0000000Z'
  return {
    session: 'x'.repeat(43),
    key,
    createdAt: date,
    expiresAt: date,
    idleEndsAt: date,
    freshUntil: date,
    images: { own: false, hosts: [] },
    serviceUrl: url,
  }
}

const tenant = {
  tenantId: fakeTenant,
  name: 'Hill & Co',
  reference: null,
  suspended: false,
  duties: true,
  leaving: null,
  deletion: null,
  createdAt: '2026-01-01T00:00:00Z',
}

function answerOf(service: FakeService, path: string, query: URLSearchParams): unknown {
  const { count } = service
  const lastPublishedAt = count === 0 ? null : dateOf(count)
  const listed = (items: readonly unknown[]) => ({ items, next: null })
  if (path === '/v1/admin/tenants') return listed([{ ...tenant, lastPublishedAt }])
  if (path === '/v1/admin/faults') return { ...listed([]), hasMore: false, at: '2026-01-01T00:00:00Z' }
  if (path === '/v1/admin/tenant-facts')
    return listed([
      {
        tenantId: fakeTenant,
        sequenceNumber: count,
        live: count,
        published: Array.from({ length: 24 }, (_, n) => n),
        furthest: null,
        refused: 0,
      },
    ])
  if (path === '/v1/admin/health') return { status: 'ok', items: [], next: null }
  const below = `/v1/admin/tenants/${fakeTenant}`
  if (path === below) return tenant
  switch (path.slice(below.length)) {
    case '/feeds':
      return listed([
        {
          feed: 'property',
          sequenceNumber: count,
          epoch: 'e',
          revision: 0,
          counts: {},
          live: count,
          lastPublishedAt,
        },
      ])
    case '/duties':
      return { advised: true, properties: count, items: [], next: null }
    case '/consumers':
      return listed([])
    case '/events/getevents':
      return pageOf(service, query)
    case '/property-events':
      return runOf(service, query)
    default:
      return undefined
  }
}

/** Events after a number, of one type or all; removals always (PROTOCOL §13.4). */
function runOf(service: FakeService, query: URLSearchParams): object {
  const { count } = service
  const limit = Number(query.get('limit'))
  const types = query.get('types')
  const items: object[] = []
  let next = Number(query.get('after'))
  while (next < count && items.length < limit) {
    next += 1
    if (types === null || types === typeOf(next) || typeOf(next) === removal)
      items.push(fakeEvent(service, next))
  }
  return { items, next, head: count, epoch: 'e', revision: 0 }
}

function pageOf(service: FakeService, query: URLSearchParams): object {
  const [page, pageSize] = [Number(query.get('page')), Number(query.get('pageSize'))]
  const to = query.get('to')
  const until =
    to === null ? service.count : Math.floor((Date.parse(`${to.slice(0, 23)}Z`) - beginMs) / stepMs)
  const available = Math.max(0, Math.min(service.count, until))
  const first = (page - 1) * pageSize + 1
  const length = Math.max(0, Math.min(pageSize, available - first + 1))
  const items = Array.from({ length }, (_, n) => fakeEvent(service, first + n))
  return { items, page, pageSize, availableCount: available, totalPages: Math.ceil(available / pageSize) }
}
