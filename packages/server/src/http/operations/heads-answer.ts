/** Heads as `GET /v1/heads` answers them. */
import { crc32 } from 'node:zlib'
import { feedNames, feeds, formatTicks } from '@property-events/protocol'
import { readableFeeds } from '../../feed/moved-feeds.ts'
import type { Moved, ReadableFeeds } from '../../feed/moved-feeds.ts'
import { feedName } from '../../storage/storage.ts'
import type { FeedKey, Grant, Head } from '../../storage/storage.ts'
import { isOfAny } from '../access.ts'
import type { HttpContext } from '../context.ts'
import type { Access, Answer, Headers } from '../exchange.ts'
import { success } from '../problem.ts'
import { jsonHeaders } from './answers.ts'
import { lastsOfBranches } from './branch-heads.ts'
import type { LastEvent } from './branch-heads.ts'

type HeadsAnswer = Extract<Answer, { kind: 'text' }>

/** The heads of feeds that have moved, as they are now. Rejects as the store does. */
export async function headsAnswer(
  { events }: Pick<HttpContext, 'events'>,
  { limited }: KeyFeeds,
  { keys, next }: Moved,
  headers: Headers = jsonHeaders,
): Promise<HeadsAnswer> {
  const heads = keys.length === 0 ? [] : await events.heads(keys)
  const lasts = await lastsOfBranches(events, keys, limited)
  const shown = keys.flatMap((key, index) => shownHead(key, heads[index], lasts.get(feedName(key))))
  return { kind: 'text', status: success.ok, headers, body: JSON.stringify({ heads: shown, next }) }
}

/** Of a key, as far as it says what feeds it reads. */
export type KeyGrants = Pick<Access, 'grants' | 'viewsBeingMade'>

/** The feeds that a key reads. */
export interface KeyFeeds extends ReadableFeeds {
  /** Of those that it reads of some branches alone, by name. `undefined`: their view is being made. */
  readonly limited: ReadonlyMap<string, readonly string[] | undefined>
}

/** A key's grants are one object for as long as the key is as it was. */
const known = new WeakMap<readonly Grant[], KeyFeeds>()

/** The feeds that grants let a key read; of a key that reads nothing, those that it publishes to, unless to some branches alone. */
export function readableOf({ grants, viewsBeingMade }: KeyGrants): KeyFeeds {
  const before = known.get(grants)
  if (before !== undefined) return before
  const isReader = grants.some(({ scopes }) => scopes.some((scope) => isOfAny('anyRead', scope)))
  const needed = isReader ? 'readScope' : 'publishScope'
  const read = grants.flatMap((grant) => {
    const { tenantId, scopes } = grant
    if (!isReader && grant.branches !== undefined) return []
    const ofTenant = feedNames.filter((feed) => scopes.includes(feeds[feed][needed]))
    return ofTenant.map((feed) => ({ grant, key: { tenantId, feed } }))
  })
  const limited = read.flatMap(({ grant: { branches }, key }) => {
    const isMade = !viewsBeingMade.includes(key.tenantId)
    return branches === undefined ? [] : [[feedName(key), isMade ? branches : undefined] as const]
  })
  const plain = readableFeeds(read.map(({ key }) => key))
  // All feeds are named again once a view has been made.
  const print =
    limited.length === 0 ? plain.print : crc32(`${plain.print} ${JSON.stringify(limited)}`).toString(36)
  const made = { ...plain, print, limited: new Map(limited) }
  known.set(grants, made)
  return made
}

/** None: there is no such tenant any more. `last`: of the branches that the key reads, where it does not read all. */
function shownHead(key: FeedKey, head: Head | undefined, last: LastEvent | undefined) {
  if (head === undefined) return []
  const { sequenceNumber, created, epoch, revision } = head
  const createdDate = created === undefined ? null : formatTicks(created)
  return [{ ...key, sequenceNumber, createdDate, ...last, epoch, revision }]
}
