/** Moves the published properties of one branch to another (D11, D23). */
import { hash } from 'node:crypto'
import { feeds, meaningOf, parseUuid, uuidV7 } from '@property-events/protocol'
import type { FeedRefusal } from '../events/feed.ts'
import { parseEventJson } from '../events/event-json.ts'
import { payloadMember } from '../events/append/subject-identity.ts'
import type { Actor } from '../audit/actor.ts'
import { ownDraft } from '../events/append/append-batch.ts'
import type { EventDraft } from '../events/append/append-batch.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { StoredEvent } from '../events/event-log.ts'

/** In one commit. */
const propertiesPerStep = 100
/** Otherwise a publisher that still publishes for the old branch would keep it running for ever. */
const mostPasses = 5

export interface BranchMove {
  readonly tenantId: string
  readonly from: string
  readonly to: string
  /** Counts, and changes nothing. */
  readonly dryRun: boolean
  readonly actor: Actor
  /** Aborted: it ends after the step under way. */
  readonly signal: AbortSignal
}

export interface BranchMoveStep {
  /** Properties that have been moved so far, or would be. */
  readonly moved: number
  /** Latest events that have been looked at so far. */
  readonly looked: number
}

/**
 * `done`: nothing was left in the old branch at the last look. `goesOn`: somebody still publishes for the old branch. The others: nothing
 * can be published for the tenant now; what was moved stays moved.
 */
export type BranchMoveEnd =
  | 'done'
  | 'goesOn'
  | 'stopped'
  | 'maintenance'
  | 'clockBehind'
  | FeedRefusal['kind']

type Storage = Pick<StorageEngine, 'events' | 'maintenance' | 'audit'>

/**
 * Each property leaves the old branch and appears in the new one in a single commit: its last payload with another `branch_id`, decided
 * under the feed's lock, so that it never undoes what its publisher sends meanwhile. Yields a step after each look at 100 properties.
 * What was moved is not found again, so an interrupted move can simply be begun again. Rejects as the store does.
 */
export async function* moveBranch(
  storage: Storage,
  move: BranchMove,
): AsyncGenerator<BranchMoveStep, BranchMoveEnd> {
  const key: FeedKey = { tenantId: move.tenantId, feed: 'property' }
  let [after, moved, looked] = [0, 0, 0]
  for (let pass = 1; pass <= mostPasses; pass += 1) {
    // What is published after this, including its own events, is for the next pass.
    const head = await storage.events.head(key)
    if (head === undefined) return 'unknownFeed'
    const before = moved
    while (after < head.sequenceNumber) {
      if (move.signal.aborted) return 'stopped'
      const query = { key, view: 'all', after, limit: propertiesPerStep, latestOnly: true } as const
      const read = await storage.events.readAfter(query)
      const latest = read.filter(({ sequenceNumber }) => sequenceNumber <= head.sequenceNumber)
      after =
        latest.length < propertiesPerStep ? head.sequenceNumber : (latest.at(-1)?.sequenceNumber ?? after)
      looked += latest.length
      const drafts = latest.flatMap((event) => draftOf(event, move))
      const step =
        move.dryRun || drafts.length === 0 ? drafts.length : await publish(storage, key, drafts, move)
      if (typeof step === 'string') return step
      moved += step
      yield { moved, looked }
    }
    if (move.dryRun || moved === before) return 'done'
  }
  return 'goesOn'
}

/** How many properties it moved, or why it could not. */
async function publish(
  { events, maintenance, audit }: Storage,
  key: FeedKey,
  drafts: readonly EventDraft[],
  { tenantId, actor }: BranchMove,
): Promise<number | Exclude<BranchMoveEnd, 'done' | 'goesOn' | 'stopped'>> {
  if ((await maintenance()) !== undefined) return 'maintenance'
  const detail = { properties: drafts.length }
  // Recorded before it is done, so that there is never an unrecorded change.
  await audit.note({ action: 'branch.moved', tenant: tenantId, target: tenantId, detail }, actor)
  const [outcome] = await events.append([{ key, drafts, unchanged: 'skip' }])
  if (outcome?.kind === 'stored') return outcome.events.filter(({ status }) => status === 'appended').length
  if (outcome === undefined) throw new Error('the engine answered fewer outcomes than batches')
  const { kind } = outcome
  if (kind === 'idConflict' || kind === 'unknownSubject' || kind === 'branchNotGranted') {
    throw new Error(`a property that was read could not be moved: ${kind}`)
  }
  return kind
}

/** None for an event that says that its property is gone, or in another branch. */
function draftOf({ json }: StoredEvent, { from, to }: BranchMove): readonly EventDraft[] {
  const { eventTypeShortCode, payload } = parseEventJson(Buffer.from(json).toString('utf8'))
  if (meaningOf('property', eventTypeShortCode) === 'gone') return []
  if (payloadMember(payload, 'branch_id') !== from) return []
  const reference = payloadMember(payload, feeds.property.subjectField)
  const subjectId = reference === undefined ? undefined : parseUuid(reference)
  if (subjectId === undefined) return []
  const id = uuidV7(Date.now())
  const contentHash = hash('sha256', `move ${id}`, 'buffer')
  return [{ ...ownDraft(subjectId, id, { kind: 'moved', from, to }), contentHash }]
}
