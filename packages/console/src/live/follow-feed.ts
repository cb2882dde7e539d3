/**
 * Reports when a feed has moved. A session that reads the feed as its consumers do waits for the heads of its feeds. Administration cannot
 * wait, so there it asks for the feed's position every second while the tab is visible.
 */
import type { FeedHead } from '@property-events/protocol/wire'
import { call } from '../service/call.ts'
import { readHeads } from '../service/operations/feeds.ts'
import type { FeedAddress } from '../service/operations/feeds.ts'
import { listFeeds } from '../service/operations/tenants.ts'
import { isSeen } from '../state/clock.ts'

/** How often to ask without waiting. */
const pollMs = 1_000
/** How long the service may hold an answer back while nothing changes; proxies end requests after 30 to 60 seconds. */
const waitSeconds = 25
const restAfterSilenceMs = 3_000
/** If a feed moves a hundred times a second, listeners hear of it a few times. */
const gatherMs = 250

interface FeedWatch {
  readonly onMove: () => void
  /** An epoch has begun or payloads were reduced, so the held events may be outdated. */
  readonly onChange: () => void
}

/** Where a feed stands, as far as a listener has to know. */
type Position = Pick<FeedHead, 'sequenceNumber' | 'epoch' | 'revision'>

/** Reports on a feed until the signal ends it. Never throws; it continues by itself after the service was away. */
export function followFeed(address: FeedAddress, watch: FeedWatch, signal: AbortSignal): void {
  let last: Position | undefined
  const report = (now: Position): void => {
    const isChange = last !== undefined && (last.epoch !== now.epoch || last.revision !== now.revision)
    const isMove = last?.sequenceNumber !== now.sequenceNumber
    last = now
    if (isChange) watch.onChange()
    else if (isMove) watch.onMove()
  }
  void (address.door === 'own' ? waitForHeads(address, report, signal) : pollFeeds(address, report, signal))
}

type Report = (now: Position) => void

async function waitForHeads(
  { tenantId, feed }: FeedAddress,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  let since: string | undefined
  while (!signal.aborted) {
    const asked = since === undefined ? undefined : { since, wait: waitSeconds }
    const outcome = await call(readHeads(tenantId, asked), { signal })
    if (outcome.kind === 'answer') {
      const head = outcome.value.heads.find((one) => one.feed === feed && one.tenantId === tenantId)
      if (head !== undefined) report(head)
      since = outcome.value.next
    }
    await rest(outcome.kind === 'answer' ? gatherMs : restAfterSilenceMs, signal)
  }
}

async function pollFeeds(
  { tenantId, feed }: FeedAddress,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await rest(pollMs, signal)
    if (!isSeen.peek() || signal.aborted) continue
    const outcome = await call(listFeeds(tenantId), { signal })
    if (outcome.kind === 'failure') await rest(restAfterSilenceMs, signal)
    if (outcome.kind !== 'answer') continue
    const head = outcome.value.items.find((state) => state.feed === feed)
    if (head !== undefined) report(head)
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
