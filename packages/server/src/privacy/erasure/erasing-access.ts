/** What a key with an erase scope may do: erase, put on hold, and see what was done (PROTOCOL §5.7). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { FeedKey } from '../../events/feed-key.ts'
import { refused } from '../../http/exchange.ts'
import type { Refused } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'

/** The feed of the one tenant that the key may erase in. */
export function erasedFeed({ grants }: Access, feed: FeedName): FeedKey | Refused {
  const scope = feeds[feed].eraseScope
  const tenants = grants.filter(({ scopes }) => scopes.includes(scope))
  const [first] = tenants
  if (first === undefined) {
    return refused({ code: 'missing_scope', detail: `This needs a key with the scope ${scope}.` })
  }
  if (tenants.length > 1) return refused({ code: 'ambiguous_tenant' })
  return { tenantId: first.tenantId, feed }
}

/** The one tenant of which the key may erase anything. */
export function erasingTenant({ grants }: Access): string | Refused {
  const tenants = grants.filter(({ scopes }) => scopes.some((scope) => scope.endsWith(':erase')))
  const [first] = tenants
  if (first === undefined) return refused({ code: 'missing_scope' })
  return tenants.length === 1 ? first.tenantId : refused({ code: 'ambiguous_tenant' })
}

/** What was done in a feed is visible to keys that may do it. */
export function maySee({ grants }: Access, { key }: { readonly key: FeedKey }): boolean {
  const scope = feeds[key.feed].eraseScope
  return grants.some(({ tenantId, scopes }) => tenantId === key.tenantId && scopes.includes(scope))
}
