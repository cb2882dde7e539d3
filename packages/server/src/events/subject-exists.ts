/** Whether the log has an event of a property or contact. */
import { feedNumbers, statement } from '../sql/database.ts'
import type { Query } from '../sql/database.ts'
import type { FeedKey } from './feed-key.ts'

/** SQLite names a feed in the tables of the log by one number, which stands for tenant and feed. */
const find = statement('subject-exists', (dialect) =>
  dialect === 'sqlite'
    ? `SELECT 1 AS found FROM subject WHERE feed_no = (SELECT feed_no FROM feed_key WHERE tenant = $1 AND feed = $2) AND subject = $3`
    : 'SELECT 1 AS found FROM subject WHERE tenant = $1 AND feed = $2 AND subject = $3',
)

/** One row if it has. */
export function subjectExists({ tenantId, feed }: FeedKey, subjectId: string): Query {
  return find(tenantId, feedNumbers[feed], { uuid: subjectId })
}
