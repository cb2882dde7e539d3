/** Reads a feed from two stores and compares numbers and bytes. */
import type { RetentionStore } from '../privacy/retention/retention.ts'
import type { EventStore } from '../events/event-log.ts'
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { FeedKey } from '../events/feed-key.ts'

/** A copy or a move that cannot go on. `message`: sentences for the operator that say in which state everything is, and what to do. */
export class CopyRefusal extends Error {
  override readonly name = 'CopyRefusal'
}

export interface CopiedFeed {
  readonly key: FeedKey
  readonly events: number
  /** SHA-256 over every number and its bytes, in order, read back from the copy and equal to the source's. */
  readonly checksum: string
}

export interface FeedComparison {
  /** Compares the part of the copy that was not compared yet. Rejects with a `CopyRefusal` where it differs. */
  goOn(): Promise<void>
  /** The end of the copy is reached. Rejects where its counter says that there are more events, or fewer. */
  end(): Promise<CopiedFeed>
}

const eventsPerPage = 500

export function compareFeeds(
  from: { readonly events: EventStore },
  to: { readonly events: EventStore },
  key: FeedKey,
  differs: () => CopyRefusal,
  onCompared: (events: number) => void = () => undefined,
): FeedComparison {
  const sum = createHash('sha256')
  let [after, events] = [0, 0]
  return {
    async goOn() {
      for (;;) {
        const query = { key, view: 'all', after, limit: eventsPerPage, latestOnly: false } as const
        const copies = await to.events.readAfter(query)
        const originals = await from.events.readAfter({ ...query, limit: copies.length })
        for (const [index, { sequenceNumber, json }] of copies.entries()) {
          const original = originals[index]
          if (original?.sequenceNumber !== sequenceNumber || !Buffer.from(json).equals(original.json)) {
            throw differs()
          }
          sum.update(`${sequenceNumber} `).update(json).update('\n')
        }
        events += copies.length
        onCompared(events)
        after = copies.at(-1)?.sequenceNumber ?? after
        if (copies.length < eventsPerPage) return
      }
    },
    async end() {
      const counted = (await to.events.head(key))?.position ?? 0
      if (events !== counted) throw differs()
      return { key, events, checksum: sum.digest('hex') }
    },
  }
}

/** The number of events in the copy. Its last one has to be one of the source, at the same place. */
export async function heldPosition(
  from: { readonly events: EventStore },
  to: { readonly events: EventStore },
  key: FeedKey,
  differs: (lastNumber: number) => CopyRefusal,
): Promise<number> {
  const head = await to.events.head(key)
  if (head === undefined || head.position === 0) return 0
  const last = { key, view: 'all', after: head.sequenceNumber - 1, limit: 1, latestOnly: false } as const
  const [[copied], [original]] = [await to.events.readAfter(last), await from.events.readAfter(last)]
  const isSame =
    copied !== undefined &&
    original !== undefined &&
    copied.sequenceNumber === original.sequenceNumber &&
    Buffer.from(copied.json).equals(original.json)
  if (!isSame) throw differs(head.sequenceNumber)
  return head.position
}

/** Well within the ten seconds that a turn lasts. */
const renewEveryMs = 2_000
const waitMs = 500

/**
 * While events are copied and compared, no event of the source may lose its payload because of its age: the two would differ. Runs the work while nothing is thinned in the store, as if this were the node that thins. Waits for
 * another node that does.
 */
export async function withoutThinning<T>(
  { retention }: { readonly retention: RetentionStore },
  work: () => Promise<T>,
): Promise<T> {
  const nodeId = randomUUID()
  // A role that may only read cannot take a turn, and copies anyway.
  while (!(await retention.takeTurn(nodeId).catch(() => true))) await delay(waitMs)
  // If this fails, others get the turn: then a comparison may fail, and says so.
  const renewing = setInterval(() => void retention.takeTurn(nodeId).catch(() => undefined), renewEveryMs)
  try {
    return await work()
  } finally {
    clearInterval(renewing)
    await retention.endTurn(nodeId).catch(() => undefined)
  }
}
