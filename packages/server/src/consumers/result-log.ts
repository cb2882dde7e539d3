/**
 * What consumers have reported of properties, as a log: a row for each change of outcome or address, and for the first report after the
 * property was published or withdrawn, in the transaction that stores the result. What was reported before the log began, or is older than the log is kept, is not recorded.
 */
import { versionsAt } from '../events/version-at.ts'
import type { VersionRow } from '../events/version-at.ts'
import { removal, rowsFrom, statement, uuidOf } from '../sql/database.ts'
import type { StoreAccess, StoredLogId, Transaction } from '../sql/database.ts'
import { turnOf, turns } from '../events/listings.ts'
import type { ConsumerResult, ConsumerStore, Outcome, ResultChange } from './consumer.ts'

const place = 'subject, key_id, name, sequence, result_ms'
const key = `tenant, ${place}`
const columns = `${key}, outcome, code, url`
const putChanges = statement(
  'consumer-put-result-changes',
  (dialect) => `INSERT INTO consumer_result_change (${columns})
    SELECT ${columns} FROM ${rowsFrom('$1', {
      tenant: 'uuid',
      subject: 'logId',
      key_id: 'text',
      name: 'text',
      sequence: 'bigint',
      result_ms: 'bigint',
      outcome: 'text',
      code: 'text',
      url: 'text',
    })(dialect)}
    ORDER BY ${key}
    ON CONFLICT (${key}) DO UPDATE SET outcome = excluded.outcome, code = excluded.code, url = excluded.url`,
)
const changes = statement<ChangeRow>(
  'consumer-result-changes',
  `SELECT * FROM consumer_result_change WHERE tenant = $1 AND subject = $2 ORDER BY ${key}`,
)
const changesAfter = statement<ChangeRow>(
  'consumer-result-changes-after',
  `SELECT * FROM consumer_result_change WHERE tenant = $1 AND (${place}) > ($2, $3, $4, $5, $6) ORDER BY ${key} LIMIT $7`,
)
const inListing = 'r.tenant = $2 AND r.subject = of_subject AND r.sequence >= low AND r.sequence < high'
const firstLive = statement<FirstLiveRow>('consumer-first-live', (dialect) => {
  const given = rowsFrom('$1', { at: 'integer', of_subject: 'logId', low: 'bigint', high: 'bigint' })(dialect)
  return `SELECT at, key_id, name, min(live_ms) AS live_ms, max(is_live) AS is_live FROM (
    SELECT at, r.key_id, r.name, CASE r.outcome WHEN 'live' THEN r.result_ms END AS live_ms, 0 AS is_live
      FROM ${given} CROSS JOIN consumer_result_change AS r WHERE ${inListing}
    UNION ALL SELECT at, r.key_id, r.name, NULL, CASE r.outcome WHEN 'live' THEN 1 ELSE 0 END
      FROM ${given} CROSS JOIN consumer_result AS r WHERE ${inListing}
  ) AS said GROUP BY at, key_id, name`
})
const rowsAtOnce = 5_000
const removeOld = statement(
  'consumer-remove-old-result-changes',
  removal('consumer_result_change', key, `result_ms < $1 LIMIT ${rowsAtOnce}`, 'result_ms'),
)

/** Whether a result that replaces another one is a row of the log. */
export function isResultChange(result: ConsumerResult, before: ConsumerResult | undefined): boolean {
  return (
    before === undefined || before.outcome !== result.outcome || before.url !== result.url?.toWellFormed()
  )
}

/** A late report on an erased version is not kept; on the event that closes it, its outcome alone. */
export function withoutErased(
  result: ConsumerResult,
  version: VersionRow | undefined,
): ConsumerResult | undefined {
  if (version === undefined) return result
  if (version.erased) return undefined
  if (version.state !== 'erased') return result
  return version.latest ? withoutWords(result) : undefined
}

/** Of changes in the same millisecond about the same version, the last is kept. */
export async function addResultChanges(tx: Transaction, changed: readonly ConsumerResult[]): Promise<void> {
  const rows = new Map<string, object>()
  for (const one of changed) {
    const row = {
      tenant: one.tenantId,
      subject: one.subjectId,
      key_id: one.keyId,
      name: one.name,
      sequence: one.sequenceNumber,
      result_ms: one.resultMs,
    }
    const result = { outcome: one.outcome, code: one.code ?? null, url: one.url?.toWellFormed() ?? null }
    rows.set(JSON.stringify(Object.values(row)), { ...row, ...result })
  }
  if (rows.size > 0) await tx.rows(putChanges(JSON.stringify([...rows.values()])))
}

/** Removes rows older than this, some thousands at a time. Returns whether there may be more. */
export async function removeOldResultChanges(tx: Transaction, beforeMs: number): Promise<boolean> {
  return (await tx.rows(removeOld(beforeMs))).length === rowsAtOnce
}

const start = { subjectId: '00000000-0000-0000-0000-000000000000', keyId: '', name: '' }

export function resultLog({
  read,
}: StoreAccess): Pick<
  ConsumerStore,
  'resultChanges' | 'resultChangesAfter' | 'turns' | 'firstLive' | 'removalsAmong'
> {
  return {
    turns: async (query) => (await read.rows(turns(query))).map(turnOf),
    async firstLive(tenantId, listings) {
      const given = listings.map(({ subjectId, sequenceNumber: low, removed }, at) => {
        return { at, of_subject: subjectId, low, high: removed ?? Number.MAX_SAFE_INTEGER }
      })
      const rows = await read.rows(firstLive(JSON.stringify(given), tenantId))
      return rows.map(({ at: listing, key_id: keyId, name, live_ms, is_live }) => {
        return { listing, keyId, name, liveMs: live_ms ?? undefined, isLive: is_live === 1 }
      })
    },
    resultChanges: async (tenantId, subjectId) =>
      (await read.rows(changes(tenantId, { uuid: subjectId }))).map(changeOf),
    async resultChangesAfter(tenantId, after, limit) {
      const from = after ?? { ...start, sequenceNumber: 0, resultMs: 0 }
      const { subjectId, keyId, name, sequenceNumber, resultMs } = from
      const found = changesAfter(tenantId, { uuid: subjectId }, keyId, name, sequenceNumber, resultMs, limit)
      return (await read.rows(found)).map(changeOf)
    },
    async removalsAmong(tenantId, subjectId, numbers) {
      const asked = numbers.map((number) => {
        return { tenantId, subjectId, sequenceNumber: number, since: number }
      })
      const rows = await read.rows(versionsAt(asked))
      const removals = rows.filter(({ sequence, withdrawn }) => sequence !== null && withdrawn === sequence)
      return new Set(removals.flatMap(({ at }) => numbers[at] ?? []))
    },
  }
}

interface FirstLiveRow {
  readonly at: number
  readonly key_id: string
  readonly name: string
  readonly live_ms: number | null
  readonly is_live: number
}

export interface ChangeRow {
  readonly tenant: string
  readonly subject: StoredLogId
  readonly key_id: string
  readonly name: string
  readonly sequence: number
  readonly result_ms: number
  readonly outcome: Outcome
  readonly code: string | null
  readonly url: string | null
}

export function changeOf(row: ChangeRow): ResultChange {
  return {
    tenantId: row.tenant,
    subjectId: uuidOf(row.subject),
    keyId: row.key_id,
    name: row.name,
    sequenceNumber: row.sequence,
    resultMs: row.result_ms,
    outcome: row.outcome,
    code: row.code ?? undefined,
    url: row.url ?? undefined,
  }
}

/**
 * What is kept of a result about the event that closes an erased property. The words of the result and the address of its page may have
 * been made from the erased payloads.
 */
function withoutWords(result: ConsumerResult): ConsumerResult {
  return { ...result, code: undefined, message: undefined, url: undefined }
}
