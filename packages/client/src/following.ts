/**
 * `client.follow` alone, for our own pages, which have to be small: a client with all it can is 11 kB more, and following a server of the
 * contract alone, by its pages, another 1.8 kB. It is not published.
 */
import { uncheckedConnection } from './connection.ts'
import type { ClientOptions } from './connection.ts'
import { follow } from './live/follow.ts'
import type { EventFollower, FollowQuery } from './live/follow-options.ts'
import type { FeedName } from './wire.ts'

/** As `createClient(options).follow(query)`, for options that are right. */
export function followEvents(
  options: ClientOptions & { readonly feed?: FeedName },
  query: FollowQuery,
): EventFollower {
  return follow(uncheckedConnection(options), query)
}
