/** A SQLite store as an earlier version of the program wrote it. */
import { readFileSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'

const schemaOfKeysVersion = 14
const migrations = new URL('../../../src/storage/sqlite/migrations/', import.meta.url)

/** Puts what a closed store holds into the tables of an earlier schema, in its place: what came later is left out. */
export function toOlderSchema(folder: string, schema: number): void {
  const file = join(folder, 'property-events.db')
  const aside = join(folder, 'of-now')
  renameSync(file, aside)
  const older = new Database(file)
  for (const name of readdirSync(migrations).toSorted().slice(0, schema)) {
    older.exec(readFileSync(new URL(name, migrations), 'utf8'))
  }
  older.prepare('ATTACH ? AS now').run(aside)
  const names = (sql: string) => older.prepare<[], string>(sql).pluck().all()
  for (const table of names(`SELECT name FROM main.sqlite_schema WHERE type = 'table'`)) {
    const columns = names(`SELECT name FROM pragma_table_info('${table}', 'main')`).join()
    older.exec(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM now.${table}`)
  }
  // Single values have rows of their own.
  if (schema < schemaOfKeysVersion) older.exec(`DELETE FROM meta WHERE name = 'keys_version'`)
  older.exec(`DETACH now; PRAGMA user_version = ${schema}; PRAGMA application_id = 0x50455654`)
  older.close()
}
