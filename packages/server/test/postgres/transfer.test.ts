import { after, describe, it } from 'node:test'
import { assertSameContent, storeWithHistory, transfer } from '../store/contract/transferring.ts'
import { sqliteStores, withTenants } from '../store/support/stores.ts'
import { postgresStores } from './postgres-stores.ts'

describe('moving between engines', () => {
  const engines = { SQLite: sqliteStores(), PostgreSQL: postgresStores() }
  after(async () => {
    for (const factory of Object.values(engines)) await factory.clean()
  })

  for (const [start, end] of [
    ['SQLite', 'PostgreSQL'],
    ['PostgreSQL', 'SQLite'],
  ] as const) {
    it(`keeps everything from ${start} to ${end} (P9, P12)`, async () => {
      await using from = await storeWithHistory(await engines[start].create())
      await using to = await withTenants(await engines[end].create())
      await transfer(from, to)
      await assertSameContent(from, to)
    })
  }
})
