/** Heads as `GET /v1/heads` returns them. */
import { crc32 } from 'node:zlib'
import { feedNames, feeds, formatTicks } from '@property-events/protocol'
import { readableFeeds } from '../../live/changed-feeds.ts'
import type { FeedChanges, ReadableFeeds } from '../../live/changed-feeds.ts'
import { feedName } from '../../events/feed-key.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { Grant } from '../../keys/key.ts'
import type { EventStore, Head } from '../../events/event-log.ts'
import { isOfAny } from '../../http/access.ts'
import type { Headers, TextAnswer } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { success } from '../../http/problem/problem.ts'
import { jsonHeaders } from './answers.ts'
import { parseEventJson } from '../../events/event-json.ts'
import { feedViewOf } from '../feed-view.ts'

/** What answering with heads needs. */
export interface HeadsContext {
  readonly events: EventStore
}

/** The present heads of the feeds that have moved. Rejects as the store does. */
export async function headsAnswer(
  { events }: Pick<HeadsContext, 'events'>,
  { limited }: KeyFeeds,
  { keys, next }: FeedChanges,
  headers: Headers = jsonHeaders,
): Promise<TextAnswer> {
  const heads = keys.length === 0 ? [] : await events.heads(keys)
  const lasts = await lastsOfBranches(events, keys, limited)
  const shown = keys.flatMap((key, index) => shownHead(key, heads[index], lasts.get(feedName(key))))
  return { kind: 'text', status: success.ok, headers, body: JSON.stringify({ heads: shown, next }) }
}

/** The part of a key's access that decides which feeds it reads. */
export type KeyGrants = Pick<Access, 'grants' | 'viewsBeingMade'>

/** The feeds that a key reads. */
interface KeyFeeds extends ReadableFeeds {
  /** Those of the feeds that the key reads only for some branches, by name. `undefined`: their view is being made. */
  readonly limited: ReadonlyMap<string, readonly string[] | undefined>
}

/** A key's grants stay one object until the key changes. */
const known = new WeakMap<readonly Grant[], KeyFeeds>()

/**
 * The feeds that the grants let a key read. For a key that reads nothing: the feeds that it publishes to, unless only for some branches.
 */
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
  // Once a view has been made, all feeds are named again.
  const print =
    limited.length === 0 ? plain.print : crc32(`${plain.print} ${JSON.stringify(limited)}`).toString(36)
  const made = { ...plain, print, limited: new Map(limited) }
  known.set(grants, made)
  return made
}

/** `undefined` if the tenant no longer exists. `last`: the last event of the key's branches, if the key does not read all. */
function shownHead(key: FeedKey, head: Head | undefined, last: LastEvent | undefined) {
  if (head === undefined) return []
  const { sequenceNumber, created, epoch, revision } = head
  const createdDate = created === undefined ? null : formatTicks(created)
  return [{ ...key, sequenceNumber, createdDate, ...last, epoch, revision }]
}

/** The last events of the branches of a feed, for keys that read only those (PROTOCOL §2.9). */
interface LastEvent {
  readonly sequenceNumber: number
  readonly createdDate: string | null
}

type Reads = Pick<EventStore, 'locate' | 'readRange'>

/** Simultaneous reads of the store: a key of thousands of agencies must not take all connections. */
const atOnce = 8

/**
 * The last events, by the names of the limited feeds. `limited`: their branches; `undefined`: their view is being made, and shows
 * nothing.
 */
async function lastsOfBranches(
  events: Reads,
  keys: readonly FeedKey[],
  limited: ReadonlyMap<string, readonly string[] | undefined>,
): Promise<ReadonlyMap<string, LastEvent>> {
  const lasts = new Map<string, LastEvent>()
  const wanted = limited.size === 0 ? [] : keys.filter((key) => limited.has(feedName(key)))
  for (let from = 0; from < wanted.length; from += atOnce) {
    const step = wanted.slice(from, from + atOnce)
    await Promise.all(
      step.map(async (key) => {
        const name = feedName(key)
        const branches = limited.get(name)
        lasts.set(name, branches === undefined ? noEvent : await lastOf(events, key, branches))
      }),
    )
  }
  return lasts
}

const noEvent: LastEvent = { sequenceNumber: 0, createdDate: null }

async function lastOf(events: Reads, key: FeedKey, branches: readonly string[]): Promise<LastEvent> {
  const located = await events.locate({ key, view: feedViewOf({ branches }, 'all') })
  const last = located?.range.count ?? 0
  if (located === undefined || last === 0) return noEvent
  const pieces = await events.readRange({ ...located.range, first: last, count: 1 })
  const { sequenceNumber, createdDate } = parseEventJson(Buffer.concat(pieces).toString('utf8'))
  return { sequenceNumber, createdDate }
}
