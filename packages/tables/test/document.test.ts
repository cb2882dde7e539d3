/** docs/tables.md shows the tables as they are, and queries that work on both engines. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { blocksIn, root, textOf } from '../../cli/test/support/documents.ts'
import { listingColumns } from '../src/columns.ts'
import { openTables, readTableTarget } from '../src/open-tables.ts'
import { postgresDialect, tableStatements } from '../src/schema.ts'
import { tableNames } from '../src/table-names.ts'
import { openPlace, tableEngines } from './support/places.ts'
import type { TablePlace } from './support/places.ts'

const document = 'docs/tables.md'

describe('docs/tables.md', () => {
  const places: TablePlace[] = []
  before(async () => {
    for (const engine of tableEngines) {
      const place = await openPlace(engine)
      places.push(place)
      const target = readTableTarget(place.target)
      assert.ok(target !== undefined)
      await (await openTables(target, { prefix: '', schema: undefined })).close()
    }
  })
  after(async () => {
    for (const place of places) await place.close()
  })

  it('has queries that both engines answer', async () => {
    const queries = blocksIn(document, textOf(document))
      .filter(({ language, text }) => language === 'sql' && !text.startsWith('CREATE'))
      .flatMap(({ text }) => text.split(';'))
      .filter((query) => query.trim() !== '')
    assert.ok(queries.length >= 6)
    for (const query of queries) {
      for (const place of places) assert.deepEqual(await place.rows(query), [])
    }
  })

  it('shows the tables as they are made', () => {
    const made = tableStatements(tableNames(''), postgresDialect)
      .map((statement) => `${statement.replaceAll('"', '')};\n`)
      .join('\n')
    const text = textOf(document)
    const shown = /\n```sql\nCREATE[\s\S]*?\n```\n/.exec(text)?.[0] ?? ''
    if (process.env['UPDATE'] === '1') {
      const before = shown === '' ? text : text.slice(0, text.indexOf(shown))
      writeFileSync(join(root, document), `${before.trimEnd()}\n\n\`\`\`sql\n${made}\`\`\`\n`)
      return
    }
    assert.equal(shown, `\n\`\`\`sql\n${made}\`\`\`\n`)
  })

  it('and the program agree about the columns', async () => {
    const kept = ['first_price', 'last_price', 'previous_price', 'price_changed_at', 'first_seen_at']
    for (const place of places) {
      await place.run(
        "INSERT INTO listing_removed VALUES ('t', 'r', '2026-01-31T00:00:00Z', NULL, NULL, FALSE)",
      )
      const [row] = await place.rows(
        'SELECT listings.* FROM listing_removed LEFT JOIN listings USING (tenant, reference)',
      )
      assert.deepEqual(
        Object.keys(row ?? {}).toSorted(),
        [...Object.keys(listingColumns), ...kept].toSorted(),
      )
    }
  })
})
