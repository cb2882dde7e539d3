/** `GET /v1/admin/tenants/{tenantId}/feeds`: the state of a tenant's feeds (PROTOCOL §12). */
import { feedNames, feeds, formatTicks } from '@property-events/protocol'
import type { FeedState } from '@property-events/protocol/wire'
import type { FeedKey } from '../../events/feed-key.ts'
import type { Operation } from '../../http/operation.ts'
import { adminAnswer, noParameters } from '../../http/admin/admin-operation.ts'
import { noTenant, tenantOperation } from '../../tenants/routes/tenant-operation.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { TenantContext } from '../../tenants/routes/tenant-operation.ts'

interface Context extends TenantContext {
  readonly events: EventStore
}

export function listFeeds(context: Context): Operation {
  return tenantOperation(context, {
    ...noParameters,
    method: 'GET',
    path: '/tenants/:tenantId/feeds',
    need: 'admin:inspect',
    operationId: 'listFeeds',
    summary: 'See where the feeds of a tenant stand',
    description:
      'Head, epoch, revision, how many events each view has, how many properties or contacts are there now, and the time of the last event.',
    ok: { description: 'Both feeds.', schema: 'FeedStates' },
    async answer({ tenant: { tenantId } }) {
      const found = await context.events.counts(tenantId)
      const states = await Promise.all(
        feedNames.map((feed) => {
          const live = found.find(({ key }) => key.feed === feed)?.live ?? 0
          return stateOf(context, { tenantId, feed }, live)
        }),
      )
      const items = states.filter((state) => state !== undefined)
      return items.length === 0 ? noTenant : adminAnswer({ items, next: null })
    },
  })
}

async function stateOf(
  { events }: Pick<Context, 'events'>,
  key: FeedKey,
  live: number,
): Promise<FeedState | undefined> {
  const { feed } = key
  const views = Object.entries(feeds[feed].apiEventTypes)
  const located = await Promise.all(views.map(([, view]) => events.locate({ key, view })))
  const head = located[0]?.head
  if (head === undefined) return undefined
  const counts = views.map(([name], index) => [name, located[index]?.range.count ?? 0])
  return {
    feed,
    sequenceNumber: head.sequenceNumber,
    epoch: head.epoch,
    revision: head.revision,
    counts: Object.fromEntries(counts),
    live,
    lastPublishedAt: head.created === undefined ? null : `${formatTicks(head.created)}Z`,
  }
}
