/**
 * Reports when a feed has moved. It uses the stream if the session reads the feed as its consumers do. Administration has no streams, so
 * there it asks for the feed's position every second while the tab is visible.
 */
import { followEvents } from '@property-events/client/following'
import { base } from '../root.ts'
import { sessionHeaders } from '../service/call.ts'
import { call } from '../service/call.ts'
import type { FeedPlace } from '../service/operations/feeds.ts'
import { listFeeds } from '../service/operations/tenants.ts'
import { isSeen } from '../state/clock.ts'
import { noteAnswer, noteSilence } from '../state/connection.ts'

/** How often to ask without a stream. */
const pollMs = 1_000
const restAfterSilenceMs = 3_000
/** If a feed moves a hundred times a second, listeners hear of it a few times. */
const gatherMs = 250

export interface FeedWatch {
  readonly onMove: () => void
  /** An epoch has begun or payloads were reduced, so the held events may be outdated. */
  readonly onChange: () => void
}

/** Reports on a feed until the signal ends it. Never throws; it continues by itself after the service was away. */
export function followFeed(place: FeedPlace, { onMove, onChange }: FeedWatch, signal: AbortSignal): void {
  let history: string | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const moved = (now = history): void => {
    if (history !== undefined && history !== now) onChange()
    history = now
    timer ??= setTimeout(() => {
      timer = undefined
      if (!signal.aborted) onMove()
    }, gatherMs)
  }
  void (place.door === 'own' ? followStream(place, moved, signal) : pollHeads(place, moved, signal))
}

/** `history`: the epoch and revision, if they are known. */
type Moved = (history?: string) => void

async function followStream({ tenantId, feed }: FeedPlace, moved: Moved, signal: AbortSignal): Promise<void> {
  const options = {
    baseUrl: `${location.origin}${base}/api`,
    // The door uses the session instead, and the fetch below leaves the key out.
    key: 'session',
    tenant: tenantId,
    feed,
    fetch: fetchAsSession,
  }
  while (!signal.aborted) {
    try {
      const events = followEvents(options, {
        signal,
        onMark: ({ checkpoint, revision }) => moved(`${checkpoint.epoch} ${revision}`),
        onTrouble: () => noteSilence(),
        onReset: (reason) => moved(reason),
      })
      for await (const event of events) if (event.sequenceNumber > 0) moved()
    } catch {
      // The list shows why the first connection failed, for example because the service is away.
    }
    moved()
    await rest(restAfterSilenceMs, signal)
  }
}

/** The client's requests, with the session instead of a key. */
async function fetchAsSession(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.delete('x-api-key')
  for (const [name, value] of Object.entries(sessionHeaders())) headers.set(name, value)
  const response = await fetch(input, { ...init, headers, cache: 'no-store' })
  noteAnswer()
  return response
}

async function pollHeads({ tenantId, feed }: FeedPlace, moved: Moved, signal: AbortSignal): Promise<void> {
  let last: string | undefined
  let lastHistory: string | undefined
  while (!signal.aborted) {
    await rest(pollMs, signal)
    if (!isSeen.peek() || signal.aborted) continue
    const outcome = await call(listFeeds(tenantId), { signal })
    if (outcome.kind !== 'answer') {
      if (outcome.kind === 'trouble') await rest(restAfterSilenceMs, signal)
      continue
    }
    const head = outcome.value.items.find((state) => state.feed === feed)
    const now = `${head?.sequenceNumber}`
    const history = `${head?.epoch} ${head?.revision}`
    if (last !== now || lastHistory !== history) moved(history)
    lastHistory = history
    last = now
  }
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
