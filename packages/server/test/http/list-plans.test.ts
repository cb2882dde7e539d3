/** Every list that the service answers, page by page, is a search in an index, on both engines (P5): what each query is planned as. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { Client } from 'pg'
import { adminScopes, scopes } from '@property-events/protocol'
import { storeFileOf } from '../../src/storage/open-storage.ts'
import { sharedDatabases } from '../postgres/test-databases.ts'
import { call, publish } from '../support/http-client.ts'
import { committedDocument, operationsOf } from '../support/openapi-document.ts'
import { property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'

/** Short whole by what they hold: nodes that live, deletions under way. */
const shortTables = /^SCAN (?:tenant_deletion USING INDEX tenant_deletion_open|node)\b/

interface Asked {
  readonly path: string
  readonly key: string
}

/** Each GET that takes `limit`, `after` or `page`, with what it needs filled in: its first page, a later one, and its filters. */
async function lists(service: TestService): Promise<readonly Asked[]> {
  const { tenant } = service
  const { text: admin } = await service.issue({ operator: true, adminScopes })
  const grants = [{ tenantId: tenant.tenantId, scopes }]
  const { text: own } = await service.issue({ grants })
  const event = { id: randomUUID(), payload: property() }
  const { events } = await publish(service, event, { key: tenant.publishKey })
  const subject = events[0]?.transactionId ?? ''
  const filled = (path: string): string =>
    path
      .replace('{tenantId}', tenant.tenantId)
      .replace('{feed}', 'property')
      .replaceAll(/\{\w+\}/g, subject)
  return operationsOf(committedDocument()).flatMap(({ method, path, parameters = [] }) => {
    const names = parameters.map(({ name }) => name)
    const isList = ['limit', 'after', 'page'].some((name) => names.includes(name))
    if (method !== 'GET' || !isList || path.endsWith('/stream')) return []
    const key = path.startsWith('/v1/admin') ? admin : own
    const afters = path === '/v1/admin/audit' ? [] : laterPages(path)
    const filters = ['tenant', 'key', 'action', 'from', 'to'].filter(
      (name) => names.includes(name) && path.startsWith('/v1/admin'),
    )
    const values: Readonly<Record<string, string>> = {
      tenant: tenant.tenantId,
      key: 'abcdefghijkl',
      action: 'key.created',
      from: '2026-01-01',
      to: '2099-01-01',
    }
    const queries = ['', ...afters, ...filters.map((name) => `${name}=${values[name]}`)]
    return queries.map((query) => ({ key, path: `${filled(path)}${query === '' ? '' : `?${query}`}` }))
  })
}

function laterPages(path: string): readonly string[] {
  if (path.endsWith('getevents')) return ['page=2']
  if (/(?:erasures|holds|restrictions|deletions)$/.test(path)) return [`after=${randomUUID()}`]
  return path.startsWith('/v1/admin') || /events|history|reduced|heads/.test(path) ? ['after=1'] : []
}

describe('the plans of lists', () => {
  it('search and never scan on SQLite (P5, PROTOCOL §12)', async () => {
    const service = await startTestService({ engine: 'sqlite' })
    after(() => service.stop())
    const asked = await lists(service)
    const db = new Database(storeFileOf(service.folder), { readonly: true })
    const seen = new Map<string, Set<string>>()
    const recording = recordStatements(db)
    try {
      for (const { path, key } of asked) {
        recording.clear()
        const answer = await call(service, path, { key })
        assert.ok([200, 404].includes(answer.status), `${path}: ${answer.status} ${answer.text}`)
        seen.set(path, new Set(recording.sources()))
      }
    } finally {
      recording.stop()
    }
    const faults: string[] = []
    for (const [path, sources] of seen) {
      for (const sql of sources) {
        const plan = db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${withoutValues(sql)}`).all()
        for (const { detail } of plan) {
          if (/^SCAN (?!CONSTANT|\(|\d)/.test(detail) && !shortTables.test(detail))
            faults.push(`${path}: ${detail}\n  ${sql}`)
        }
      }
    }
    db.close()
    assert.ok(asked.length > 40, `${asked.length} lists`)
    assert.ok(
      [...seen.values()].some((sources) => sources.size > 0),
      'queries were seen',
    )
    assert.deepEqual([...new Set(faults)], [])
  })

  it('search and never scan on PostgreSQL (P5, PROTOCOL §12)', async () => {
    const url = await (await sharedDatabases()).create()
    const service = await startTestService({ engine: 'postgres', databaseUrl: url })
    after(() => service.stop())
    const asked = await lists(service)
    const recording = recordQueries()
    const seen = new Map<string, Map<string, RecordedQuery>>()
    try {
      for (const { path, key } of asked) {
        recording.clear()
        const answer = await call(service, path, { key })
        assert.ok([200, 404].includes(answer.status), `${path}: ${answer.status} ${answer.text}`)
        seen.set(path, new Map(recording.queries().map((query) => [query.text, query])))
      }
    } finally {
      recording.stop()
    }
    const client = new Client({ connectionString: url })
    await client.connect()
    const faults: string[] = []
    try {
      // Where a table has few rows a scan is right; what is looked for is whether an index can serve.
      await client.query('SET enable_seqscan = off')
      for (const [path, queries] of seen) {
        for (const { text, values } of queries.values()) {
          if (!/^\s*(?:SELECT|WITH)\b/i.test(text)) continue
          const { rows } = await client.query<{ 'QUERY PLAN': string }>({
            text: `EXPLAIN ${text}`,
            values: [...values],
          })
          const scans = rows
            .map((row) => row['QUERY PLAN'])
            .filter((line) => /Seq Scan on (?!store\b|node\b|keys_version\b|time_reservation\b)/.test(line))
          if (scans.length > 0) faults.push(`${path}: ${scans.join('; ')}\n  ${text}`)
        }
      }
    } finally {
      await client.end()
    }
    assert.ok(asked.length > 40, `${asked.length} lists`)
    assert.deepEqual([...new Set(faults)], [])
  })
})

/** Named and numbered values become NULL: the plan is made without looking at them. */
function withoutValues(sql: string): string {
  return sql.replaceAll(/@\w+|\?/g, 'NULL')
}

/** What this process reads from any SQLite file, statement by statement. */
function recordStatements(db: Database.Database) {
  const sources = new Set<string>()
  const prototype = Object.getPrototypeOf(db.prepare('SELECT 1')) as Record<
    string,
    (...given: unknown[]) => unknown
  >
  const before = { all: prototype['all'], get: prototype['get'], iterate: prototype['iterate'] }
  for (const name of ['all', 'get', 'iterate'] as const) {
    const original = before[name]
    assert(original !== undefined)
    prototype[name] = function record(this: { readonly source: string; readonly reader: boolean }, ...given) {
      if (this.reader && !this.source.startsWith('EXPLAIN') && !this.source.startsWith('PRAGMA'))
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

interface RecordedQuery {
  readonly text: string
  readonly values: readonly unknown[]
}

/** What this process asks of any PostgreSQL. */
function recordQueries() {
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
