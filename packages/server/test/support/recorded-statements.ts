/** The statements that a test's own process sends to a database, for a look at their plans. */
import assert from 'node:assert/strict'
import type Database from 'better-sqlite3'
import { Client } from 'pg'

/** Named and numbered values become NULL: the plan is made without looking at them. */
export function withoutValues(sql: string): string {
  return sql.replaceAll(/@\w+|\$\d+|\?/g, 'NULL')
}

/** What this process reads from any SQLite file, and also changes with `writes`, statement by statement. */
export function recordStatements(db: Database.Database, { writes = false } = {}) {
  const sources = new Set<string>()
  const prototype = Object.getPrototypeOf(db.prepare('SELECT 1')) as Record<
    string,
    (...given: unknown[]) => unknown
  >
  const before = {
    all: prototype['all'],
    get: prototype['get'],
    iterate: prototype['iterate'],
    run: prototype['run'],
  }
  for (const name of ['all', 'get', 'iterate', 'run'] as const) {
    const original = before[name]
    assert(original !== undefined)
    prototype[name] = function record(this: { readonly source: string; readonly reader: boolean }, ...given) {
      if ((this.reader || writes) && !this.source.startsWith('EXPLAIN') && !this.source.startsWith('PRAGMA'))
        sources.add(this.source)
      return Reflect.apply(original, this, given)
    }
  }
  return {
    sources: () => [...sources],
    clear: () => sources.clear(),
    stop() {
      for (const [name, original] of Object.entries(before))
        if (original !== undefined) prototype[name] = original
    },
  }
}

export interface RecordedQuery {
  readonly text: string
  readonly values: readonly unknown[]
}

/** What this process asks of any PostgreSQL. */
export function recordQueries() {
  const queries: RecordedQuery[] = []
  const methods: { query: (...given: never[]) => unknown } = Client.prototype
  const { query: original } = methods
  methods.query = function record(...given) {
    const [config]: readonly unknown[] = given
    if (typeof config === 'object' && config !== null && 'text' in config) {
      const values = 'values' in config && Array.isArray(config.values) ? config.values : []
      queries.push({ text: String(config.text), values })
    }
    return Reflect.apply(original, this, given)
  }
  return {
    queries: () => [...queries],
    clear: () => void (queries.length = 0),
    stop: () => void (methods.query = original),
  }
}
