/** What a later version does to tables that an earlier one made: all of a migration or nothing, and rows stay. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { migrateTables } from '../src/migrate-tables.ts'
import type { SchemaSession } from '../src/migrate-tables.ts'
import { migrations, postgresDialect, sqliteDialect } from '../src/migrations.ts'
import type { Migration } from '../src/migrations.ts'
import { tableNames } from '../src/table-names.ts'
import { openPlace, tableEngines } from './support/places.ts'
import type { TableEngine, TablePlace } from './support/places.ts'

const names = tableNames('')

function sessionOf(place: TablePlace, engine: TableEngine): SchemaSession {
  return {
    async existing(wanted) {
      const catalogue =
        engine === 'sqlite'
          ? 'SELECT name FROM sqlite_schema'
          : 'SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace'
      const found = new Set((await place.rows(catalogue)).map(({ name }) => name))
      return wanted.filter((name) => found.has(name))
    },
    async version() {
      const [row] = await place.rows('SELECT version FROM listing_version')
      return typeof row?.['version'] === 'number' ? row['version'] : undefined
    },
    async transaction(statements) {
      try {
        await place.run(['BEGIN', ...statements, 'COMMIT'].join(';\n'))
      } catch (error) {
        await place.run('ROLLBACK').catch(() => undefined)
        throw error
      }
    },
  }
}

for (const engine of tableEngines) {
  describe(`tables of an earlier version in ${engine}`, () => {
    it('are brought up to date with their rows, and are as they were when that fails', async () => {
      const place = await openPlace(engine)
      const dialect = engine === 'sqlite' ? sqliteDialect : postgresDialect
      const session = sessionOf(place, engine)
      const migrate = (all: readonly Migration[]) =>
        migrateTables(session, { names, dialect, migrations: all })
      await migrate(migrations)
      await place.run(
        `INSERT INTO listing_removed VALUES ('main', 'r', '2026-01-31T09:30:00.000Z', NULL, NULL, ${engine === 'sqlite' ? 0 : 'FALSE'})`,
      )
      const second: Migration = {
        version: 2,
        statements: ({ removed }, { types }) => [`ALTER TABLE ${removed} ADD COLUMN town ${types.text}`],
      }
      const broken: Migration = {
        version: 2,
        statements: (all, own) => [
          ...second.statements(all, own),
          `DROP TABLE ${all.media}`,
          'SELECT no_such_column',
        ],
      }
      await assert.rejects(migrate([...migrations, broken]), /no_such_column/)
      assert.equal(await session.version(), 1)
      const columns = async () => Object.keys((await place.rows('SELECT * FROM listing_removed'))[0] ?? {})
      assert.ok(!(await columns()).includes('town'))
      await place.rows('SELECT * FROM listing_media')

      await migrate([...migrations, second])
      assert.equal(await session.version(), 2)
      assert.deepEqual((await columns()).slice(-1), ['town'])
      // Nothing is left to do; and a program of before refuses them.
      await migrate([...migrations, second])
      await assert.rejects(migrate(migrations), /version 2, made by a newer property-events/)
      await place.close()
    })
  })
}
