/** Every list that the service answers, page by page, is a search in an index, on both engines (P5): what each query is planned as. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { Client } from 'pg'
import { adminScopes, catalogues, scopes } from '@property-events/protocol'
import { createLogger, issueKey, loadPeppers, openStorage } from '../../src/index.ts'
import type { StorageEngine } from '../../src/index.ts'
import { prepareService } from '../../src/serve/prepare-service.ts'
import { storeFileOf } from '../../src/store/open-storage.ts'
import { tenantA } from '../store/support/drafts.ts'
import { withTenants } from '../store/support/stores.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { sharedDatabases } from '../postgres/test-databases.ts'
import { call } from '../support/http-client.ts'
import { committedDocument, operationsOf } from '../support/openapi-document.ts'
import { property } from '../support/property.ts'
import { recordQueries, recordStatements, withoutValues } from '../support/recorded-statements.ts'
import type { RecordedQuery } from '../support/recorded-statements.ts'
import { makeWebhook } from '../support/webhooks.ts'

/** Read whole because they are short: deletions under way, nodes; and the values that a query is given. */
const shortTables = /^SCAN (?:tenant_deletion USING INDEX tenant_deletion_open|node|keys_version|json_each)\b/
const shortOnPostgres = /Seq Scan on (?!(?:store|node|keys_version|time_reservation|answered_until)\b)/
/** All counters, which a node reads at most once in five seconds for everybody (PROTOCOL §12). */
const allCounters = /^SELECT [^()]*(?:CASE [^()]* END AS live )?FROM feed(?: f)?$/

interface Asked {
  readonly path: string
  readonly key: string
}

/** Answers requests, and does nothing else: what is asked of the store meanwhile is asked for an answer. */
async function quietService(storage: StorageEngine) {
  await withTenants(storage)
  const [pepper] = loadPeppers({ folder: undefined, given: undefined })
  const unhurried = { perSecond: 1e6, burst: 1e6 }
  const service = await prepareService({
    webhooks: 'off',
    storage,
    peppers: [pepper],
    log: createLogger({ level: 'silent' }),
    limits: { requests: unhurried },
  })
  const { port } = await service.listen({ host: '127.0.0.1', port: 0 })
  const issue = async (given: Partial<Parameters<typeof issueKey>[2]>): Promise<string> => {
    const request = { label: '', operator: false, grants: [], expiresMs: undefined, nowMs: Date.now() }
    const issued = await issueKey(storage.keys, pepper, { ...request, actor: 'cli:test', ...given })
    return issued.kind === 'issued' ? issued.text : assert.fail(issued.kind)
  }
  return { port, issue, [Symbol.asyncDispose]: () => service.close() }
}

/** Each GET that takes `limit`, `after` or `page`, with what it needs filled in: its first page, a later one, and its filters. */
async function lists(service: Awaited<ReturnType<typeof quietService>>): Promise<readonly Asked[]> {
  const admin = await service.issue({ operator: true, adminScopes })
  const own = await service.issue({ grants: [{ tenantId: tenantA, scopes }] })
  const payload = property()
  const subject = payload.agent_ref
  const published = await call(service, '/v1/property-events', {
    method: 'POST',
    key: own,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ payload }),
  })
  assert.equal(published.status, 201, published.text)
  const webhook = await makeWebhook(service, own)
  const filled = (path: string): string =>
    path
      .replace('{tenantId}', tenantA)
      .replace('{feed}', 'property')
      .replace('{webhookId}', webhook.id)
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
      tenant: tenantA,
      key: 'abcdefghijkl',
      action: 'key.created',
      from: '2026-01-01',
      to: '2099-01-01',
    }
    const least = names.includes('text') ? 'text=elm' : ''
    const queries = [least, ...afters, ...filters.map((name) => `${name}=${values[name]}`)]
    return queries.map((query) => ({ key, path: `${filled(path)}${query === '' ? '' : `?${query}`}` }))
  })
}

function laterPages(path: string): readonly string[] {
  if (path.endsWith('getevents')) return ['page=2']
  if (/(?:erasures|holds|restrictions|deletions)$/.test(path)) return [`after=${randomUUID()}`]
  // Their places are made by the service.
  if (/(?:publications|faults|find)$/.test(path)) return []
  if (path.endsWith('/webhooks')) return [`after=${randomUUID()}`]
  if (path.endsWith('/deliveries')) return ['before=9', 'outcome=refused', `subject=${randomUUID()}`]
  if (path.endsWith('/waiting')) return ['after=1']
  if (path.endsWith('/duties')) return ['after=sales.1']
  return path.startsWith('/v1/admin') || /events|history|reduced|heads/.test(path) ? ['after=1'] : []
}

describe('the plans of lists', () => {
  it('search and never scan on SQLite (P5, PROTOCOL §12)', async () => {
    using folder = temporaryFolder()
    const place = {
      kind: 'sqlite',
      folder: folder.path,
      create: true,
      catalogue: catalogues.default,
    } as const
    await using storage = await openStorage(place)
    await using service = await quietService(storage)
    const asked = await lists(service)
    const db = new Database(storeFileOf(folder.path), { readonly: true })
    const seen = new Map<string, Set<string>>()
    const recording = recordStatements(db)
    try {
      for (const { path, key } of asked) {
        recording.clear()
        const answer = await call(service, path, { key })
        assert.ok([200, 404, 409].includes(answer.status), `${path}: ${answer.status} ${answer.text}`)
        seen.set(path, new Set(recording.sources()))
      }
    } finally {
      recording.stop()
    }
    const faults: string[] = []
    for (const [path, sources] of seen) {
      for (const sql of sources) {
        if (allCounters.test(sql)) continue
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
    const place = {
      kind: 'postgres',
      url,
      readConnections: 2,
      create: true,
      catalogue: catalogues.default,
    } as const
    await using storage = await openStorage(place)
    await using service = await quietService(storage)
    const asked = await lists(service)
    const recording = recordQueries()
    const seen = new Map<string, Map<string, RecordedQuery>>()
    try {
      for (const { path, key } of asked) {
        recording.clear()
        const answer = await call(service, path, { key })
        assert.ok([200, 404, 409].includes(answer.status), `${path}: ${answer.status} ${answer.text}`)
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
          if (!/^\s*(?:SELECT|WITH)\b/i.test(text) || allCounters.test(text)) continue
          const { rows } = await client.query<{ 'QUERY PLAN': string }>({
            text: `EXPLAIN ${text}`,
            values: [...values],
          })
          const scans = rows.map((row) => row['QUERY PLAN']).filter((line) => shortOnPostgres.test(line))
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
