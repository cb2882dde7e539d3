/**
 * A moment at which no stamped event of a feed waits for its commit (P3). One question to the database serves all who
 * ask on this node while it waits to be sent: a commit in the way costs one connection, not one for each client.
 */
import type { Ticks } from '@property-events/protocol'
import { feedName } from '../storage.ts'
import type { FeedKey } from '../storage.ts'
import type { Database, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'

const settle: Statement = { name: 'settle-feed', text: 'SELECT settle_feed($1, $2, $3)' }

export interface Settler {
  /** Resolves when whatever was stamped before the call is visible; later stamps lie behind the time of the call. */
  settled(key: FeedKey): Promise<void>
}

/** One question that is under way, and the one that begins after it, for whoever came too late for the first. */
interface Line {
  underWay: Promise<void>
  next: Promise<void> | undefined
}

/** `floor`: in place of the database's clock, for tests. */
export function settler(database: Database, floor: () => Ticks | undefined): Settler {
  const lines = new Map<string, Line>()

  const ask = async (key: FeedKey): Promise<void> => {
    await database.read(settle, [key.tenantId, feedNumbers[key.feed], floor() ?? null])
  }
  const begin = (name: string, key: FeedKey): Line => {
    const line: Line = { underWay: ask(key), next: undefined }
    lines.set(name, line)
    void line.underWay
      .catch(() => undefined)
      .finally(() => {
        if (lines.get(name) === line) lines.delete(name)
      })
    return line
  }

  return {
    settled(key) {
      const name = feedName(key)
      const line = lines.get(name)
      if (line === undefined) return begin(name, key).underWay
      // The question under way may have been answered in the database already: only a later one counts.
      line.next ??= line.underWay.catch(() => undefined).then(() => begin(name, key).underWay)
      return line.next
    },
  }
}
