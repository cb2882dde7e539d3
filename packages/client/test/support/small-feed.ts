/** Small feeds that a test can change at will, as `fetch`: one with the contract's pages alone, one with our own reads. */
import type { FeedEvent } from '../../src/index.ts'

const startMs = Date.UTC(2026, 0, 1)

export interface EventChanges {
  readonly published?: boolean
  readonly tenantId?: string
  /** Between this event and the one before, by number. A second by default. */
  readonly stepMs?: number
}

/** An event that shows a property, or takes it away. */
export function eventOf(sequenceNumber: number, subject: string, changes: EventChanges = {}): FeedEvent {
  const { published = true, tenantId = 't', stepMs = 1_000 } = changes
  return {
    tenantId,
    sequenceNumber,
    eventType: published ? 0 : 1,
    eventTypeShortCode: published ? 'PropertyPublished' : 'PropertyUnpublished',
    payload: JSON.stringify({ agent_ref: subject, published }),
    transactionId: subject,
    id: `e${sequenceNumber}`,
    createdDate: `${new Date(startMs + sequenceNumber * stepMs).toISOString().slice(0, 23)}0000`,
  }
}

/** Events of as many properties, `p1` with number 1 and so on. */
export function eventsOf(count: number, changes: EventChanges = {}): FeedEvent[] {
  return Array.from({ length: count }, (_, index) => eventOf(index + 1, `p${index + 1}`, changes))
}

/** The contract's list over what `events` gives for this request; everything else is 404. */
export function pagesOver(events: () => readonly FeedEvent[], largestPageSize = 1_000): typeof fetch {
  return async (input) => {
    const { pathname, searchParams: query } = urlOf(input)
    if (!pathname.endsWith('/getevents')) return new Response('no', { status: 404 })
    const page = Number(query.get('page'))
    const pageSize = Math.min(largestPageSize, Number(query.get('pageSize')))
    const from = (query.get('from') ?? '').replace(' ', 'T')
    const matching = events().filter(({ createdDate }) => createdDate >= from)
    const items = matching.slice((page - 1) * pageSize, page * pageSize)
    const availableCount = matching.length
    const totalPages = Math.ceil(availableCount / pageSize)
    return Response.json({ items, page, pageSize, availableCount, totalPages })
  }
}

/** The pages of `feed` without the events that are not shown, left out after the pages were made: some are short or empty. */
export function showing(feed: typeof fetch, isShown: (event: FeedEvent) => boolean): typeof fetch {
  return async (input, init) => {
    const answer = await feed(input, init)
    if (!answer.ok) return answer
    const page = (await answer.json()) as { items: FeedEvent[] }
    return Response.json({ ...page, items: page.items.filter(isShown) })
  }
}

export interface SmallFeed {
  readonly tenantId: string
  readonly epoch: string
  /** 0 by default. */
  readonly revision?: number
  readonly events: readonly FeedEvent[]
}

/** Heads, snapshot and events after a number (PROTOCOL §11) of what `feed` gives for this request. */
export function ownReadsOver(feed: () => SmallFeed): typeof fetch {
  return async (input) => {
    const { pathname, searchParams: query } = urlOf(input)
    const { tenantId, epoch, events, revision = 0 } = feed()
    const head = events.at(-1)?.sequenceNumber ?? 0
    const after = Number(query.get('after') ?? 0)
    const told = query.get('epoch')
    if (pathname === '/v1/heads') {
      const only = { tenantId, feed: 'property', sequenceNumber: head, createdDate: null, epoch, revision }
      return Response.json({ heads: [only], next: 'n' })
    }
    if (told !== null && told !== epoch) return Response.json({ code: 'epoch_changed' }, { status: 409 })
    if (Math.max(after, Number(query.get('head') ?? 0)) > head)
      return Response.json({ code: 'cursor_beyond_head' }, { status: 409 })
    const rest = events.filter(({ sequenceNumber }) => sequenceNumber > after)
    if (!pathname.endsWith('/snapshot')) {
      return Response.json({ items: rest, next: head, head, epoch, revision })
    }
    const latest = new Map(rest.map((event) => [event.transactionId, event]))
    const lines = rest.filter((event) => latest.get(event.transactionId) === event)
    const end = { end: true, head, events: lines.length }
    return new Response([...lines, end].map((line) => `${JSON.stringify(line)}\n`).join(''), {
      headers: { 'x-feed-head': String(head), 'x-feed-epoch': epoch, 'x-feed-revision': String(revision) },
    })
  }
}

export function urlOf(input: Parameters<typeof fetch>[0]): URL {
  return new URL(input instanceof Request ? input.url : input)
}
