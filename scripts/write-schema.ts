/** Writes the schema of each database as text, which tests compare: it is what a change of the SQL files changes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../packages/server/src/store/open-storage.ts'
import { withClient } from '../packages/server/test/postgres/support/standby.ts'
import { testDatabases } from '../packages/server/test/postgres/test-databases.ts'
import { describePostgres, describeSqlite } from '../packages/server/test/store/support/describe-schema.ts'

const tests = join(import.meta.dirname, '../packages/server/test')
const made = { create: true, catalogue: catalogues.default } as const

const folder = mkdtempSync(join(tmpdir(), 'property-events-schema-'))
await (await openStorage({ kind: 'sqlite', folder, ...made })).close()
const db = new Database(join(folder, 'property-events.db'), { readonly: true })
writeFileSync(join(tests, 'store/schema.sqlite.txt'), describeSqlite(db))
db.close()
rmSync(folder, { recursive: true })

await using databases = await testDatabases()
const url = await databases.create()
await (await openStorage({ kind: 'postgres', url, readConnections: 1, ...made })).close()
writeFileSync(join(tests, 'postgres/schema.postgres.txt'), await withClient(url, describePostgres))
