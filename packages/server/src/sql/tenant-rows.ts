/** A tenant's records in a table whose key is called as the table is: erasures, restrictions, holds. Ids are UUIDv7, so in order of time. */
import type { FeedKey } from '../events/feed-key.ts'
import { feedNumbers, statement } from './database.ts'
import type { Query, Sql } from './database.ts'

/** Before every id. */
export const firstId = '00000000-0000-0000-0000-000000000000'

/** `withId`: of any tenant. `ofFeed`: all, for another store. `readsOf`: finding one of a tenant, and listing them, as a port offers it. */
export function tenantRows<Row extends { readonly tenant: string }, Thing>(
  table: string,
  thingOf: (row: Row) => Thing,
) {
  const withId = statement<Row>(`${table}-one`, `SELECT * FROM ${table} WHERE ${table} = $1`)
  const page = statement<Row>(
    `${table}-list`,
    `SELECT * FROM ${table} WHERE tenant = $1 AND ${table} > $2 ORDER BY tenant, ${table} LIMIT $3`,
  )
  const inFeed = statement<Row>(
    `${table}-of-feed`,
    `SELECT * FROM ${table} WHERE tenant = $1 AND feed = $2 ORDER BY tenant, ${table}`,
  )
  return {
    withId,
    ofFeed: ({ tenantId, feed }: FeedKey): Query<Row> => inFeed(tenantId, feedNumbers[feed]),
    readsOf: (sql: Sql) => ({
      async find(tenantId: string, id: string): Promise<Thing | undefined> {
        const [row] = await sql.rows(withId(id))
        return row?.tenant === tenantId ? thingOf(row) : undefined
      },
      list: async (tenantId: string, after = firstId, limit: number): Promise<readonly Thing[]> =>
        (await sql.rows(page(tenantId, after, limit))).map(thingOf),
    }),
  }
}
