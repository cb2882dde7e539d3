/** Heads as `GET /v1/heads` answers them. */
import { feedNames, feeds, formatTicks } from '@property-events/protocol'
import { readableFeeds } from '../../feed/moved-feeds.ts'
import type { Moved, ReadableFeeds } from '../../feed/moved-feeds.ts'
import type { FeedKey, Grant, Head } from '../../storage/storage.ts'
import type { HttpContext } from '../context.ts'
import type { Answer, Headers } from '../exchange.ts'
import { success } from '../problem.ts'
import { jsonHeaders } from './answers.ts'

type HeadsAnswer = Extract<Answer, { kind: 'text' }>

/** The heads of feeds that have moved, as they are now. Rejects as the store does. */
export async function headsAnswer(
  { events }: Pick<HttpContext, 'events'>,
  { keys, next }: Moved,
  headers: Headers = jsonHeaders,
): Promise<HeadsAnswer> {
  const heads = keys.length === 0 ? [] : await events.heads(keys)
  const shown = keys.flatMap((key, index) => shownHead(key, heads[index]))
  return { kind: 'text', status: success.ok, headers, body: JSON.stringify({ heads: shown, next }) }
}

/** A key's grants are one object for as long as the key is as it was. */
const readable = new WeakMap<readonly Grant[], ReadableFeeds>()

/** The feeds that grants let a key read. */
export function readableOf(grants: readonly Grant[]): ReadableFeeds {
  const known = readable.get(grants)
  if (known !== undefined) return known
  const made = readableFeeds(
    grants.flatMap(({ tenantId, scopes }) =>
      feedNames.filter((feed) => scopes.includes(feeds[feed].readScope)).map((feed) => ({ tenantId, feed })),
    ),
  )
  readable.set(grants, made)
  return made
}

/** None: there is no such tenant any more. */
function shownHead(key: FeedKey, head: Head | undefined) {
  if (head === undefined) return []
  const { sequenceNumber, created, epoch, revision } = head
  const createdDate = created === undefined ? null : formatTicks(created)
  return [{ ...key, sequenceNumber, createdDate, epoch, revision }]
}
