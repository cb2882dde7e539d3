/** One query over its own connection. */
import { Client } from 'pg'

export async function ask<Row extends object>(url: string, query: string): Promise<readonly Row[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(query)).rows
  } finally {
    await client.end()
  }
}
