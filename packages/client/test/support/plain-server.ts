/**
 * A deliberately plain server: the two operations of the spec (§4) and nothing else. No header of ours, no route of ours.
 * Like servers one meets: numbers become visible out of order, `createdDate` is not monotone, and pages drift.
 */
import type { FeedEvent } from '../../src/index.ts'
import { pick } from './random.ts'
import type { Random } from './random.ts'

export interface PlainServerOptions {
  readonly random: Random
  readonly order: 'ascending' | 'descending'
  readonly orderBy: 'number' | 'created'
  /** Called before each request is answered. */
  readonly beforeRequest?: () => void
  /** Says in headers which epoch it is in, as a server of ours without its own routes would. */
  readonly epoch?: () => string
}

export interface PlainServer {
  readonly fetch: typeof globalThis.fetch
  /** One random event more; it may stay invisible for a while. */
  publish(): void
  /** Makes everything visible. */
  settle(): void
  /** Of each subject the visible event with the highest number: what a copy must come to. */
  fold(): ReadonlyMap<string, FeedEvent>
  /** Forgets all events and the numbers given, as after a restore from an old backup. */
  forget(keep: number): void
  readonly requests: string[]
}

/** No event becomes visible with a time further behind the newest one than this. */
export const plainServerOverlapMs = 60_000

const tenantId = '11111111-2222-4333-8444-555555555555'
const startMs = Date.UTC(2026, 0, 31, 9)
const subjects = Array.from({ length: 9 }, (_, index) => uuidOf('a', index))

export function createPlainServer(options: PlainServerOptions): PlainServer {
  const { random, order, orderBy } = options
  let visible: FeedEvent[] = []
  /** Two publishers: what one has numbered may be seen after what the other numbers later. */
  let held: { readonly event: FeedEvent; readonly until: number }[] = []
  let number = 0
  let clockMs = startMs
  const requests: string[] = []

  function release(upTo: number): void {
    visible.push(...held.filter(({ until }) => until <= upTo).map(({ event }) => event))
    held = held.filter(({ until }) => until > upTo)
  }

  function publish(): void {
    number += 1
    clockMs += 1 + pick(random, 5_000)
    const createdMs = clockMs - pick(random, 20_000)
    const subject = subjects[pick(random, subjects.length)] ?? ''
    const event = eventOf(random, subject, number, createdMs)
    held.push({ event, until: number + (random() < 0.3 ? pick(random, 4) : 0) })
    release(number)
  }

  async function answer(url: URL): Promise<Response> {
    options.beforeRequest?.()
    requests.push(`${url.pathname}${url.search}`)
    const path = url.pathname
    if (path === '/api/func/api/v1/events/getevents') return listed(url.searchParams)
    const id = /^\/api\/func\/api\/v1\/events\/geteventbyid\/([^/]+)$/.exec(path)?.[1]
    const event = visible.find((event) => event.id === id)
    return event === undefined ? new Response('Not Found', { status: 404 }) : Response.json(event)
  }

  function listed(query: URLSearchParams): Response {
    const page = Number(query.get('page') ?? 1)
    const pageSize = Number(query.get('pageSize') ?? 50)
    const from = (query.get('from') ?? '').replace(' ', 'T')
    const matching = visible.filter((event) => event.createdDate >= from).sort(inOrder(order, orderBy))
    const items = matching.slice((page - 1) * pageSize, page * pageSize)
    const availableCount = matching.length
    const totalPages = Math.ceil(availableCount / pageSize)
    const epoch = options.epoch?.()
    return Response.json(
      { items, page, pageSize, availableCount, totalPages },
      epoch === undefined ? {} : { headers: { 'x-feed-epoch': epoch, 'x-feed-revision': '0' } },
    )
  }

  return {
    fetch: async (input) => answer(new URL(input instanceof Request ? input.url : input)),
    publish,
    settle: () => release(Infinity),
    fold() {
      const latest = new Map<string, FeedEvent>()
      for (const event of visible) {
        const subject = event.transactionId
        if ((latest.get(subject)?.sequenceNumber ?? 0) < event.sequenceNumber) latest.set(subject, event)
      }
      return latest
    },
    forget(keep) {
      held = []
      visible = visible.sort((one, other) => one.sequenceNumber - other.sequenceNumber).slice(0, keep)
      number = keep
    },
    requests,
  }
}

function inOrder(order: 'ascending' | 'descending', by: 'number' | 'created') {
  const sign = order === 'ascending' ? 1 : -1
  return (one: FeedEvent, other: FeedEvent): number => {
    if (by === 'number') return sign * (one.sequenceNumber - other.sequenceNumber)
    return sign * (one.createdDate < other.createdDate ? -1 : 1)
  }
}

function eventOf(random: Random, subject: string, number: number, createdMs: number): FeedEvent {
  const published = random() < 0.75
  // Some services empty the payload of a property that goes; its transaction id is then all that names it.
  const isEmpty = !published && random() < 0.3
  const isLetting = random() < 0.3
  const payload = {
    agent_ref: random() < 0.2 ? subject.toUpperCase() : subject,
    published,
    price_information: { price: number, ...(isLetting ? { deposit: 100 } : {}) },
    details: { obligations: random() < 0.5 ? [] : { Listed: false } },
  }
  return {
    tenantId,
    sequenceNumber: number,
    eventType: published ? 0 : 1,
    eventTypeShortCode: 'string',
    payload: isEmpty ? '' : JSON.stringify(payload),
    transactionId: subject,
    id: uuidOf('e', number + pick(random, 1_000) * 1_000_000),
    createdDate: `${new Date(createdMs).toISOString().slice(0, 23)}${String(pick(random, 10_000)).padStart(4, '0')}`,
  }
}

function uuidOf(kind: string, index: number): string {
  return `${kind.repeat(8)}-0000-4000-8000-${String(index).padStart(12, '0')}`
}
