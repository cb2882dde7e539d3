/** Removes the properties of leaving tenants, in the background (PROTOCOL §5.10), so that everybody who shows them hears of it. */
import { hash } from 'node:crypto'
import { feeds, meaningOf, parseUuid, uuidV7 } from '@property-events/protocol'
import type { TaskReport } from '../../runtime/background-task.ts'
import { startWorker } from '../../runtime/worker-loop.ts'
import type { Worker } from '../../runtime/worker-loop.ts'
import { parseEventJson } from '../../events/event-json.ts'
import { payloadMember } from '../../events/append/subject-identity.ts'
import { ownDraft } from '../../events/append/append-batch.ts'
import type { EventDraft } from '../../events/append/append-batch.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { Leaving } from './leaving.ts'
import type { StorageEngine } from '../../store/storage.ts'
import type { StoredEvent } from '../../events/event-log.ts'
import { isolateFailure } from '../../sql/isolate-failure.ts'

/** How often it looks for tenants that have begun to leave: one read of a table that is nearly always empty. */
const checkEveryMs = 2_000
/**
 * A publication that was admitted before every node knew of the leaving (2 s) may come this long after: its body may take 15 s and its
 * commit as long again. So a tenant is done when a look that began after that found nothing.
 */
const settleAfterMs = 60_000
/** In one commit. */
const propertiesPerStep = 100

type Storage = Pick<StorageEngine, 'events' | 'leaving' | 'maintenance'>

interface UnpublishingParts {
  readonly storage: Storage
  /** Called with failures, which are retried. */
  readonly report: TaskReport
  /** Milliseconds since 1970. */
  readonly clock?: () => number
  /** For tests; two seconds and a minute if left out. */
  readonly everyMs?: number
  readonly settleMs?: number
}

/** Any number of nodes may do this at the same time: what one has removed is left alone by the others. */
export function carryOutUnpublishing(parts: UnpublishingParts): Worker {
  const { report, everyMs = checkEveryMs } = parts
  /** Tenants that this process has completed once, each with the time since when it is leaving. */
  const seen = new Set<string>()
  return startWorker({ task: 'unpublish', report, retryMs: everyMs }, async (signal) => ({
    waitMs: everyMs,
    hasFailed: !(await look(parts, seen, signal)),
  }))
}

/** False: at least one tenant could not be unpublished. */
async function look(parts: UnpublishingParts, seen: Set<string>, signal: AbortSignal): Promise<boolean> {
  const { storage, report, clock = Date.now, settleMs = settleAfterMs } = parts
  let isWhole = true
  const open = (await storage.leaving.list()).filter(({ unpublishedMs }) => unpublishedMs === undefined)
  if (open.length === 0 || (await storage.maintenance()) !== undefined) return isWhole
  for (const leaving of open) {
    if (signal.aborted) return isWhole
    const name = nameOf(leaving)
    const isSettled = clock() >= leaving.sinceMs + settleMs
    if (seen.has(name) && !isSettled) continue
    const { tenantId } = leaving
    const removed = await isolateFailure(
      report,
      'unpublish',
      { tenantId },
      unpublish(storage, leaving, signal),
    )
    isWhole &&= removed !== 'broken'
    if (removed === 'later' || removed === 'broken') continue
    seen.add(name)
    if (isSettled && removed === 0) await storage.leaving.noteUnpublished(leaving, clock(), 'service')
  }
  return isWhole
}

function nameOf({ tenantId, sinceMs }: Leaving): string {
  return `${tenantId} ${sinceMs}`
}

/** How many properties it removed. `later`: the tenant is being moved, or publishing to the store waits for an operator. */
async function unpublish(
  { events }: Storage,
  { tenantId }: Leaving,
  signal: AbortSignal,
): Promise<number | 'later'> {
  const key: FeedKey = { tenantId, feed: 'property' }
  let removed = 0
  for (let after = 0; ;) {
    if (signal.aborted) return 'later'
    const latest = await events.readAfter({
      key,
      view: 'all',
      after,
      limit: propertiesPerStep,
      latestOnly: true,
    })
    const last = latest.at(-1)
    if (last === undefined) return removed
    after = last.sequenceNumber
    const drafts = latest.flatMap(removalOf)
    if (drafts.length === 0) continue
    // Under the counter: what another node or its publisher has removed already is left alone.
    const [outcome] = await events.append([{ key, drafts, unchanged: 'skip' }])
    if (outcome?.kind !== 'stored') return 'later'
    removed += outcome.events.filter(({ status }) => status === 'appended').length
  }
}

/** None for an event that says that its property is gone. */
function removalOf({ json }: StoredEvent): readonly EventDraft[] {
  const { eventTypeShortCode, payload } = parseEventJson(Buffer.from(json).toString('utf8'))
  if (meaningOf('property', eventTypeShortCode) === 'gone') return []
  const reference = payloadMember(payload, feeds.property.subjectField)
  const subjectId = typeof reference === 'string' ? parseUuid(reference) : undefined
  if (subjectId === undefined) return []
  const id = uuidV7(Date.now())
  const contentHash = hash('sha256', `remove ${id}`, 'buffer')
  return [{ ...ownDraft(subjectId, id, { kind: 'removal', reason: undefined }), contentHash }]
}
