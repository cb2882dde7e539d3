/** What consumers have seen and reported, for a copy of a store or of one tenant (D28). */
import { feedNames } from '@property-events/protocol'
import { refusalPauseMs } from '../consumers/consumer.ts'
import type { ConsumerRefusal, StoredRead, NewRead } from '../consumers/consumer.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { StorageEngine } from '../store/storage.ts'

const rowsAtOnce = 500

/**
 * Joins everything with what an earlier run has copied. Consumers of keys that the target does not have are left out, because new keys
 * are other consumers. What a node of the source has not added yet is not copied. `tenantId`: only of this tenant.
 */
export async function copyConsumers(
  from: StorageEngine,
  to: StorageEngine,
  tenantId?: string,
): Promise<void> {
  const known = new Set((await to.keys.keys()).map(({ keyId }) => keyId))
  const isKnown: IsKnown = ({ keyId }) => known.has(keyId)
  const tenants =
    tenantId === undefined ? (await from.tenants.tenants()).map((one) => one.tenantId) : [tenantId]
  for (const tenant of tenants) {
    for (const feed of feedNames) await copyReadings(from, to, { tenantId: tenant, feed }, isKnown)
    await copyResults(from, to, tenant, isKnown)
  }
  for (const some of inRows([...known])) await copyRefusals(from, to, some, tenantId)
}

type IsKnown = (one: { readonly keyId: string }) => boolean

async function copyReadings(
  from: StorageEngine,
  to: StorageEngine,
  key: FeedKey,
  isKnown: IsKnown,
): Promise<void> {
  let pieces: NewRead[] = []
  let rows = 0
  for (const reading of (await from.consumers.readings(key)).filter(isKnown)) {
    const piece = await withMinutes(from, reading)
    pieces.push(piece)
    rows += 1 + piece.minutes.length
    if (rows < rowsAtOnce) continue
    await to.consumers.add(pieces)
    pieces = []
    rows = 0
  }
  if (pieces.length > 0) await to.consumers.add(pieces)
  const acknowledgements = (await from.consumers.acknowledgements(key)).filter(isKnown)
  for (const some of inRows(acknowledgements)) await to.consumers.acknowledge(some)
}

/** Minutes are kept for some days, at most 2,000 rows per consumer; the set of everything sent is kept permanently. */
async function withMinutes(from: StorageEngine, { ranges, ...reading }: StoredRead): Promise<NewRead> {
  const { view, space, epoch } = reading
  const minutes = (await from.consumers.sentMinutes(reading))
    .filter((row) => row.view === view && row.space === space && row.epoch === epoch)
    .map((row) => ({ minute: row.minute, route: row.route, ranges: row.ranges }))
  return { ...reading, minutes, earlierRanges: ranges }
}

async function copyResults(
  from: StorageEngine,
  to: StorageEngine,
  tenantId: string,
  isKnown: IsKnown,
): Promise<void> {
  for (let after: string | undefined; ;) {
    const some = await from.consumers.resultsAfter(tenantId, after, rowsAtOnce)
    after = some.at(-1)?.subjectId
    if (after === undefined) return
    // The results of one property come together, so there can be slightly more than requested.
    for (const rows of inRows(some.filter(isKnown))) await to.consumers.putResults(rows)
  }
}

async function copyRefusals(
  from: StorageEngine,
  to: StorageEngine,
  keyIds: readonly string[],
  tenantId: string | undefined,
): Promise<void> {
  const held = new Map((await to.consumers.refusals(keyIds)).map((one) => [placeOf(one), one]))
  const wanted = (await from.consumers.refusals(keyIds)).filter(
    (one) => tenantId === undefined || one.tenantId === undefined || one.tenantId === tenantId,
  )
  const missing = wanted.flatMap((one) => missingOf(one, held.get(placeOf(one))))
  for (const some of inRows(missing)) await to.consumers.addRefusals(some)
}

/** Counts add up, so for a row that an earlier run has copied only the new part is added. */
function missingOf(one: ConsumerRefusal, held: ConsumerRefusal | undefined): readonly ConsumerRefusal[] {
  if (held === undefined || one.sinceMs - held.lastMs > refusalPauseMs) return [one]
  const count = one.count - held.count
  return one.sinceMs === held.sinceMs && count > 0 ? [{ ...one, count }] : []
}

function placeOf({ keyId, name, tenantId = '', code }: ConsumerRefusal): string {
  return [keyId, name, tenantId, code].join(' ')
}

function* inRows<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += rowsAtOnce) yield rows.slice(from, from + rowsAtOnce)
}
