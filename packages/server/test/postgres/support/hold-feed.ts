/** Another session that holds a feed's counter, as one that an operator forgot in a transaction does. */
import { Client } from 'pg'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import { feedNumbers } from '../../../src/sql/database.ts'

export interface HeldFeed {
  /** Ends its transaction, which has changed nothing. */
  release(): Promise<void>
}

export async function holdFeed(url: string, { tenantId, feed }: FeedKey): Promise<HeldFeed> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('BEGIN')
  await client.query('SELECT FROM feed WHERE tenant = $1 AND feed = $2 FOR UPDATE', [
    tenantId,
    feedNumbers[feed],
  ])
  return {
    async release() {
      await client.query('ROLLBACK')
      await client.end()
    },
  }
}
