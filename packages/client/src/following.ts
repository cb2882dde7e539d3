/** `client.follow` alone, for our own pages, which have to be small: a client with all it can is 11 kB more. It is not published. */
import { connectionOf } from './connection.ts'
import type { ClientOptions } from './connection.ts'
import { follow } from './live/follow.ts'
import type { EventFollower, FollowQuery } from './live/follow-options.ts'
import type { FeedName } from './wire.ts'

/** As `createClient(options).follow(query)`. */
export function followEvents(
  options: ClientOptions & { readonly feed?: FeedName },
  query: FollowQuery,
): EventFollower {
  return follow(connectionOf(options), query)
}
