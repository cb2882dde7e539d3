/** The certificate of a deletion (PROTOCOL §12.9), for answers and for the program, which loads no operations for it. */
import { formatTicks } from '@property-events/protocol'
import type { Deletion as Certificate, OwnedFeed } from '@property-events/protocol/wire'
import type { DeletedFeed, Deletion, OwnedCounts } from './deletion.ts'
import { timeOf } from '../../http/time-of.ts'

export function certificateOf(one: Deletion): Certificate {
  const { deletionId, tenantId, state, name, actor, exported, counts, digests, begunMs, deletedMs } = one
  return {
    id: deletionId,
    tenantId,
    name: name ?? null,
    state,
    actor,
    export: one.export === 'none' ? 'none' : 'file',
    exported: exported ?? null,
    feeds: one.feeds.map((feed) => ({ ...feedMembers(feed), digest: digests[feed.feed] })),
    counts: orderedCounts(counts),
    begunAt: timeOf(begunMs),
    deletedAt: timeOf(deletedMs),
  }
}

/** A store may return them in another order. */
function orderedCounts(counts: OwnedCounts): OwnedCounts {
  const { events, subjects, keys, grants, erasures, holds, restrictions, sent } = counts
  return { events, subjects, keys, grants, erasures, holds, restrictions, sent }
}

/** A feed of the tenant, as a certificate and a dry run show it. */
export function feedMembers({
  feed,
  epoch,
  sequenceNumber,
  revision,
  events,
  lastCreated,
}: DeletedFeed): OwnedFeed {
  const lastPublishedAt = lastCreated === null ? null : `${formatTicks(lastCreated)}Z`
  return { feed, sequenceNumber, epoch, revision, events, lastPublishedAt }
}
