/**
 * Only `client.follow`, for our own pages, which must stay small: the whole client would add 11 kB, and following a server that has only
 * the contract, page by page, another 1.8 kB. This is not published.
 */
import { uncheckedConnection } from './connection.ts'
import type { ClientOptions } from './connection.ts'
import { follow } from './live/follow.ts'
import type { EventFollower, FollowQuery } from './live/follow-options.ts'
import type { FeedName } from './wire.ts'

/** Like `createClient(options).follow(query)`, but the options are not checked. */
export function followEvents(
  options: ClientOptions & { readonly feed?: FeedName },
  query: FollowQuery,
): EventFollower {
  return follow(uncheckedConnection(options), query)
}
