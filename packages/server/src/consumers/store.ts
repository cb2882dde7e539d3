/** Who has seen what, in a database: what consumers were sent is in read-log.ts; here, what they say and what they were refused. */
import { isOtherListing, versionsAt } from '../events/version-at.ts'
import type { VersionRow } from '../events/version-at.ts'
import { among, defineWrite, feedNumbers, noteLockWaitMs, rowsFrom, statement } from '../sql/database.ts'
import type { StoreAccess, Transaction } from '../sql/database.ts'
import { isLater, refusalPauseMs, saysLiveAnew } from './consumer.ts'
import type { Acknowledgement, ConsumerName, ConsumerRefusal, ConsumerResult } from './consumer.ts'
import type { ConsumerStore, LoggedResults, PutResults, WentLive } from './consumer.ts'
import { consumerOf, givenConsumer, placeOf } from './consumer-rows.ts'
import type { ConsumerRow } from './consumer-rows.ts'
import { lockConsumers, readLog } from './read-log.ts'
import { addResultChanges, changeOf, isResultChange, resultLog, withoutErased } from './result-log.ts'
import type { ChangeRow } from './result-log.ts'
import { sentLog } from './sent-log.ts'

const acknowledge = statement(
  'consumer-acknowledge',
  (dialect) => `UPDATE consumer AS c SET acknowledged = of_number, epoch = of_epoch, acknowledged_ms = of_ms
    FROM ${rowsFrom('$1', { ...givenConsumer, of_number: 'bigint', of_epoch: 'text', of_ms: 'bigint' })(dialect)}
    WHERE (c.tenant, c.feed, c.key_id, c.name) = (of_tenant, of_feed, of_key, of_name)
      AND (c.acknowledged IS NULL OR c.epoch <> of_epoch OR c.acknowledged < of_number)`,
)
const acknowledgements = statement<AcknowledgementRow>(
  'consumer-acknowledgements',
  'SELECT * FROM consumer WHERE tenant = $1 AND feed = $2 AND acknowledged IS NOT NULL ORDER BY key_id, name',
)

const ofRefusal = 'key_id, name, tenant, code'
const isAnew = `excluded.since_ms - kept.last_ms > ${refusalPauseMs}`
/** In the order of the key, so that two nodes that add to the same counts never wait in a circle. */
const addRefusals = statement(
  'consumer-add-refusals',
  (dialect) => `INSERT INTO consumer_refusal AS kept (${ofRefusal}, status, since_ms, last_ms, count)
    SELECT ${ofRefusal}, status, since_ms, last_ms, count FROM ${rowsFrom('$1', {
      key_id: 'text',
      name: 'text',
      tenant: 'text',
      code: 'text',
      status: 'integer',
      since_ms: 'bigint',
      last_ms: 'bigint',
      count: 'bigint',
    })(dialect)}
    ORDER BY ${ofRefusal}
    ON CONFLICT (${ofRefusal}) DO UPDATE SET
      status = CASE WHEN excluded.last_ms >= kept.last_ms THEN excluded.status ELSE kept.status END,
      since_ms = CASE WHEN ${isAnew} OR excluded.since_ms < kept.since_ms THEN excluded.since_ms ELSE kept.since_ms END,
      count = excluded.count + CASE WHEN ${isAnew} THEN 0 ELSE kept.count END,
      last_ms = CASE WHEN excluded.last_ms > kept.last_ms THEN excluded.last_ms ELSE kept.last_ms END`,
)
const refusals = statement<RefusalRow>(
  'consumer-refusals',
  (dialect) => `SELECT * FROM consumer_refusal WHERE key_id ${among('$1', 'text')(dialect)}`,
)

/**
 * Either an erasure that begins in one of these tenants waits until the results are stored, and takes them, or the results wait and see it.
 * On SQLite everything that is written waits for each other.
 */
const lockResults = statement('consumer-results-lock', (dialect) =>
  dialect === 'sqlite'
    ? 'SELECT 1 WHERE $1 IS NULL'
    : `SELECT lock_results(tenant, false) FROM (
        SELECT DISTINCT CAST(json_array_elements_text($1::json) AS uuid) AS tenant ORDER BY 1) AS tenants`,
)
const ofResult = 'tenant, subject, key_id, name'
const resultColumns = `${ofResult}, sequence, outcome, code, message, url, result_ms`
const resultsGiven = statement<ResultRow>(
  'consumer-results-given',
  (dialect) => `SELECT r.* FROM ${rowsFrom('$1', {
    of_tenant: 'uuid',
    of_subject: 'logId',
    of_key: 'text',
    of_name: 'text',
  })(dialect)} CROSS JOIN consumer_result AS r
    WHERE (r.tenant, r.subject, r.key_id, r.name) = (of_tenant, of_subject, of_key, of_name)`,
)
const putRows = statement(
  'consumer-put-results',
  (dialect) => `INSERT INTO consumer_result (${resultColumns})
    SELECT ${resultColumns} FROM ${rowsFrom('$1', {
      tenant: 'uuid',
      subject: 'logId',
      key_id: 'text',
      name: 'text',
      sequence: 'bigint',
      outcome: 'text',
      code: 'text',
      message: 'text',
      url: 'text',
      result_ms: 'bigint',
    })(dialect)}
    ORDER BY ${ofResult}
    ON CONFLICT (${ofResult}) DO UPDATE SET sequence = excluded.sequence, outcome = excluded.outcome,
      code = excluded.code, message = excluded.message, url = excluded.url, result_ms = excluded.result_ms`,
)
const resultOrder = `ORDER BY ${ofResult}`
const results = statement<ResultRow>(
  'consumer-results',
  `SELECT * FROM consumer_result WHERE tenant = $1 AND subject = $2 ${resultOrder}`,
)
/** Whole properties: those of the last one come together. */
const resultsAfter = statement<ResultRow>(
  'consumer-results-after',
  `SELECT * FROM consumer_result WHERE tenant = $1 AND subject > $2 AND subject <= coalesce(
    (SELECT subject FROM consumer_result WHERE tenant = $1 AND subject > $2 ${resultOrder} LIMIT 1 OFFSET $3), $4) ${resultOrder}`,
)
/** Before and after every id. */
const firstId = { uuid: '00000000-0000-0000-0000-000000000000' }
const lastId = { uuid: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

const acknowledgeReading = defineWrite(
  'consumer-acknowledge',
  async (tx, acknowledgements: readonly Acknowledgement[]): Promise<void> => {
    const known = acknowledgements.filter(await lockConsumers(tx, acknowledgements))
    const rows = known.map((one) => {
      return {
        ...placeOf(one),
        of_number: one.sequenceNumber,
        of_epoch: one.epoch,
        of_ms: one.acknowledgedMs,
      }
    })
    await tx.rows(acknowledge(JSON.stringify(rows)))
  },
  { lockWaitMs: noteLockWaitMs },
)

const countRefusals = defineWrite(
  'consumer-refusals',
  async (tx, given: readonly ConsumerRefusal[]): Promise<void> => {
    const rows = given.map(({ keyId, tenantId = '', sinceMs, lastMs, ...refusal }) => {
      return { ...refusal, key_id: keyId, tenant: tenantId, since_ms: sinceMs, last_ms: lastMs }
    })
    await tx.rows(addRefusals(JSON.stringify(rows)))
  },
  { lockWaitMs: noteLockWaitMs },
)

interface ResultsToPut {
  readonly given: readonly ConsumerResult[]
  readonly log: LoggedResults
}

const putResults = defineWrite(
  'consumer-results',
  async (tx, { given, log }: ResultsToPut): Promise<PutResults> => {
    const isKnown = await lockConsumers(tx, given.map(reporterOf))
    const known = given.filter((result) => isKnown(reporterOf(result)))
    await tx.rows(lockResults(JSON.stringify(known.map(({ tenantId }) => tenantId))))
    return { live: await putKnown(tx, known, log), leftOut: given.length - known.length }
  },
)

async function putKnown(
  tx: Transaction,
  given: readonly ConsumerResult[],
  log: LoggedResults,
): Promise<readonly WentLive[]> {
  const kept = new Map<string, ConsumerResult>()
  for (const row of await tx.rows(resultsGiven(JSON.stringify(given.map(placeOfResult))))) {
    const result = resultOf(row)
    kept.set(textOf(result), result)
  }
  const asked = given.map((one) => ({ ...one, since: kept.get(textOf(one))?.sequenceNumber ?? 0 }))
  const versions = new Map((await tx.rows(versionsAt(asked))).map((row) => [row.at, row]))
  const earlier = new Map<string, number | null>()
  const changed = new Map<string, ConsumerResult>()
  const changes: ConsumerResult[] = []
  const live: WentLive[] = []
  for (const [at, one] of given.entries()) {
    const text = textOf(one)
    const before = kept.get(text)
    const version = versions.get(at)
    const result = isLater(one, before) ? withoutErased(one, version) : undefined
    if (result === undefined) continue
    kept.set(text, result)
    changed.set(text, result)
    const isOther = version !== undefined && isOtherListing(version, earlier.get(text) ?? version.earlier)
    if (isOther || isResultChange(result, before)) changes.push(result)
    earlier.set(text, version?.sequence ?? null)
    const publishedMs = latestMs(result, version)
    if (publishedMs === undefined || !saysLiveAnew(result, before)) continue
    live.push({ keyId: result.keyId, name: result.name, afterMs: result.resultMs - publishedMs })
  }
  if (changed.size > 0) await tx.rows(putRows(JSON.stringify([...changed.values()].map(rowOf))))
  if (log === 'changes') await addResultChanges(tx, changes)
  return live
}

/** When the version was published, if the result is about the property's latest. */
function latestMs({ sequenceNumber }: ConsumerResult, version: VersionRow | undefined): number | undefined {
  if (version?.sequence !== sequenceNumber || !version.latest) return undefined
  return version.created_ms ?? undefined
}

export function consumerStore(access: StoreAccess): ConsumerStore {
  const { read, write } = access
  return {
    ...readLog(access),
    ...resultLog(access),
    ...sentLog(access),
    acknowledge: (acknowledgements) => write(acknowledgeReading, acknowledgements),
    addRefusals: (given) => write(countRefusals, given),
    putResults: (given, log = 'changes') => write(putResults, { given, log }),
    async acknowledgements({ tenantId, feed }) {
      const rows = await read.rows(acknowledgements(tenantId, feedNumbers[feed]))
      return rows.map((row): Acknowledgement => {
        const { acknowledged: sequenceNumber, epoch, acknowledged_ms: acknowledgedMs } = row
        return { ...consumerOf(row), sequenceNumber, epoch, acknowledgedMs }
      })
    },
    refusals: async (keyIds) => (await read.rows(refusals(JSON.stringify(keyIds)))).map(refusalOf),
    results: async (tenantId, subjectId) =>
      (await read.rows(results(tenantId, { uuid: subjectId }))).map(resultOf),
    async resultsAfter(tenantId, afterSubject, limit) {
      const after = afterSubject === undefined ? firstId : { uuid: afterSubject }
      return (await read.rows(resultsAfter(tenantId, after, limit, lastId))).map(resultOf)
    },
  }
}

function reporterOf({ tenantId, keyId, name }: ConsumerResult): ConsumerName {
  return { key: { tenantId, feed: 'property' }, keyId, name }
}

function placeOfResult({ tenantId, subjectId, keyId, name }: ConsumerResult) {
  return { of_tenant: tenantId, of_subject: subjectId, of_key: keyId, of_name: name }
}

function textOf(result: ConsumerResult): string {
  return Object.values(placeOfResult(result)).join(' ')
}

interface AcknowledgementRow extends ConsumerRow {
  readonly acknowledged: number
  readonly epoch: string
  readonly acknowledged_ms: number
}

interface RefusalRow {
  readonly key_id: string
  readonly name: string
  readonly tenant: string
  readonly code: string
  readonly status: number
  readonly since_ms: number
  readonly last_ms: number
  readonly count: number
}

function refusalOf(row: RefusalRow): ConsumerRefusal {
  const { key_id: keyId, name, tenant, code, status, since_ms: sinceMs, last_ms: lastMs, count } = row
  return { keyId, name, tenantId: tenant === '' ? undefined : tenant, code, status, sinceMs, lastMs, count }
}

interface ResultRow extends ChangeRow {
  readonly message: string | null
}

function resultOf(row: ResultRow): ConsumerResult {
  return { ...changeOf(row), message: row.message ?? undefined }
}

/** Texts of consumers may have half characters: JSON keeps them, and PostgreSQL refuses them. */
function rowOf({ tenantId, subjectId, keyId, name, ...result }: ConsumerResult): ResultRow {
  return {
    tenant: tenantId,
    subject: subjectId,
    key_id: keyId,
    name,
    sequence: result.sequenceNumber,
    outcome: result.outcome,
    code: result.code ?? null,
    message: result.message?.toWellFormed() ?? null,
    url: result.url?.toWellFormed() ?? null,
    result_ms: result.resultMs,
  }
}
