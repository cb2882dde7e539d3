/** What a copy of a store, or of one tenant, takes along beside events and keys. */
import { feedNames } from '@property-events/protocol'
import type { Actor } from '../audit/actor.ts'
import type { Leaving } from '../tenants/leaving/leaving.ts'
import type { DisclosurePiece } from '../privacy/disclosure/disclosure.ts'
import type { StorageEngine } from '../store/storage.ts'
import { refusalPauseMs } from '../consumers/consumer.ts'
import type { ConsumerRefusal, ReadPart, ResultChange, SentRange, StoredRead } from '../consumers/consumer.ts'
import type { FeedKey } from '../events/feed-key.ts'
import { presencesPerStep, presenceText } from '../consumers/silence/silence.ts'
import type { PresenceName, SetExpectation } from '../consumers/silence/silence.ts'
import type { KeyRecord } from '../keys/key.ts'

/**
 * What nodes have recorded about requests, and the intervals expected of consumers and publishers. Call it after the keys have been copied. It can be repeated. `actor` makes the copy. `tenantId`: copies only
 * what concerns this tenant.
 */
export async function copyRecords(
  from: StorageEngine,
  to: StorageEngine,
  actor: Actor,
  tenantId?: string,
): Promise<void> {
  await copySent(from, to, tenantId)
  await copyConsumers(from, to, tenantId)
  await copyExpectations(from, to, actor, tenantId)
}

const piecesAtOnce = 500
const lastHour = 2 ** 31 - 1

/** What keys were sent: it is kept as long as the events are. Pieces that already exist are joined. What a node of the source has not added yet is not copied. */
async function copySent(from: StorageEngine, to: StorageEngine, tenantId?: string): Promise<void> {
  for (const { keyId } of await from.keys.keys()) {
    let after: DisclosurePiece | undefined
    do {
      const query = { keyId, fromHour: 0, toHour: lastHour, after, limit: piecesAtOnce }
      const pieces = await from.ledger.sent(query)
      const wanted = pieces.filter(({ key }) => tenantId === undefined || key.tenantId === tenantId)
      if (wanted.length > 0) await to.ledger.add(wanted)
      after = pieces.length < piecesAtOnce ? undefined : pieces.at(-1)
    } while (after !== undefined)
  }
}

/** Which tenants are leaving. `tenantId`: only this tenant. */
export async function copyLeaving(
  from: StorageEngine,
  to: StorageEngine,
  actor: Actor,
  tenantId?: string,
): Promise<void> {
  const of = (leaving: readonly Leaving[]) =>
    leaving.filter((one) => tenantId === undefined || one.tenantId === tenantId)
  const leaving = of(await from.leaving.list())
  const ids = new Set(leaving.map((one) => one.tenantId))
  for (const one of of(await to.leaving.list())) {
    if (!ids.has(one.tenantId)) await to.leaving.end(one.tenantId, actor)
  }
  for (const one of leaving) {
    await to.leaving.begin(one, actor)
    if (one.unpublishedMs !== undefined) await to.leaving.noteUnpublished(one, one.unpublishedMs, actor)
  }
}

/** The tenants' own rules, of all tenants or of one. */
export async function copyRules(
  from: StorageEngine,
  to: StorageEngine,
  actor: Actor,
  tenantId?: string,
): Promise<void> {
  const wanted = await from.retention.rules(tenantId)
  for (const { tenantId: of, rule, days } of wanted) await to.retention.setRule(of, rule, days, actor)
  for (const held of await to.retention.rules(tenantId)) {
    const isKept = wanted.some(({ tenantId: of, rule }) => of === held.tenantId && rule === held.rule)
    if (!isKept) await to.retention.setRule(held.tenantId, held.rule, undefined, actor)
  }
}

/**
 * The source's audit, of all tenants or of one, so that the copy can say what was changed before it was one; rows that are there already
 * stay. What the copy itself changes in the target has rows of its own there.
 */
export async function copyAudit(
  from: { readonly audit: Pick<StorageEngine['audit'], 'read'> },
  to: StorageEngine,
  tenant?: string,
): Promise<void> {
  for (let after: string | undefined; ;) {
    const rows = await from.audit.read({ first: 'oldest', after, limit: rowsAtOnce, tenant })
    // The last row read was pruned in the meantime: what is left is read from its beginning.
    if (rows === 'unknownRow') {
      after = undefined
      continue
    }
    if (rows.length > 0) await to.audit.take(rows)
    if (rows.length < rowsAtOnce) return
    after = rows.at(-1)?.id
  }
}

/** What consumers have seen and reported, for a copy of a store or of one tenant (D28). */
const rowsAtOnce = 500

/**
 * Joins everything with what an earlier run has copied. Consumers of keys that the target does not have are left out, because new keys
 * are other consumers. What a node of the source has not added yet is not copied. `tenantId`: only of this tenant.
 */
async function copyConsumers(from: StorageEngine, to: StorageEngine, tenantId?: string): Promise<void> {
  const known = new Set((await to.keys.keys()).map(({ keyId }) => keyId))
  const isKnown: IsKnown = ({ keyId }) => known.has(keyId)
  const tenants =
    tenantId === undefined ? (await from.tenants.tenants()).map((one) => one.tenantId) : [tenantId]
  for (const tenant of tenants) {
    for (const feed of feedNames) await copyReadings(from, to, { tenantId: tenant, feed }, isKnown)
    await copyResultLog(from, to, tenant, isKnown)
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
  for (const reading of (await from.consumers.readings(key)).filter(isKnown))
    await copyReading(from, to, reading)
  const acknowledgements = (await from.consumers.acknowledgements(key)).filter(isKnown)
  for (const some of inRows(acknowledgements)) await to.consumers.acknowledge(some)
}

/** First when it was sent what, as far as that is recorded; the set of everything sent is kept permanently. */
async function copyReading(
  from: StorageEngine,
  to: StorageEngine,
  { ranges, ...reading }: StoredRead,
): Promise<void> {
  const { view, space, epoch } = reading
  for (let after: SentRange | undefined = before({ view, space, epoch }); ;) {
    const rows: readonly SentRange[] = await from.consumers.sentAfter(reading, after, rowsAtOnce)
    const minutes = rows
      .filter((row) => row.view === view && row.space === space && row.epoch === epoch)
      .map(({ range, minute, route }) => ({ minute, route, ranges: [range] }))
    if (minutes.length > 0) await to.consumers.add([{ ...reading, minutes }])
    after = rows.at(-1)
    if (minutes.length < rowsAtOnce) break
  }
  await to.consumers.add([{ ...reading, minutes: [], earlierRanges: ranges }])
}

/** Numbers begin at 1. */
function before(part: ReadPart): SentRange {
  return { ...part, range: [0, 0], minute: 0, route: 'list' }
}

/** The changes again, in their order, leave the same log: the store writes it with the results. */
async function copyResultLog(
  from: StorageEngine,
  to: StorageEngine,
  tenantId: string,
  isKnown: IsKnown,
): Promise<void> {
  for (let after: ResultChange | undefined; ;) {
    const some = await from.consumers.resultChangesAfter(tenantId, after, rowsAtOnce)
    after = some.at(-1)
    if (after === undefined) return
    const results = some.filter(isKnown).map((one) => ({ ...one, message: undefined }))
    if (results.length > 0) await to.consumers.putResults(results)
  }
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
    for (const rows of inRows(some.filter(isKnown))) await to.consumers.putResults(rows, 'nothing')
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

/**
 * Intervals that were set, for a copy of a store or of one tenant (PROTOCOL §14.7). Learned intervals are not copied: the target learns
 * them itself.
 */

/**
 * The target expects publishers, and consumers of keys that it has, in the same intervals as the source, and loses settings of its own.
 * For a key that also opens other tenants, in either store, a tenant brings the intervals of consumers that have read it, and replaces no
 * others. `tenantId`: only of this tenant.
 */
async function copyExpectations(
  from: StorageEngine,
  to: StorageEngine,
  actor: Actor,
  tenantId?: string,
): Promise<void> {
  const isOfCopy = tenantId === undefined ? () => true : await tenantScope(from, to, tenantId)
  const wanted = await setIn(from)
  const held = await setIn(to)
  // Removals make room first, because a key can have only so many settings.
  for (const [text, { name }] of held) {
    if (!wanted.has(text) && isOfCopy(name, 'off')) await to.silence.expect(name, undefined, actor)
  }
  for (const [text, { name, expectation }] of wanted) {
    if (!isOfCopy(name, held.has(text) ? 'over' : 'new')) continue
    // A tenant or key that the target does not have is left out: its own run of the command brings it.
    await to.silence.expect(name, expectation, actor)
  }
}

interface Expected {
  readonly name: PresenceName
  readonly expectation: SetExpectation
}

/** By the texts of their names. */
async function setIn({ silence }: StorageEngine): Promise<ReadonlyMap<string, Expected>> {
  const set = new Map<string, Expected>()
  for (let after: PresenceName | undefined; ;) {
    const page = await silence.presences(after, presencesPerStep)
    for (const { name, expectation } of page) {
      if (expectation !== undefined) set.set(presenceText(name), { name, expectation })
    }
    after = page.at(-1)?.name
    if (page.length < presencesPerStep) return set
  }
}

/** An interval can be `new` in the target, go `over` an existing setting, or take that `off`. */
type Scope = (name: PresenceName, change: 'new' | 'over' | 'off') => boolean

async function tenantScope(from: StorageEngine, to: StorageEngine, tenantId: string): Promise<Scope> {
  const ofTenant = ({ grants }: KeyRecord): boolean => grants.some((grant) => grant.tenantId === tenantId)
  const ofOthers = ({ grants }: KeyRecord): boolean => grants.some((grant) => grant.tenantId !== tenantId)
  const keys = (await from.keys.keys()).filter(ofTenant)
  const moving = new Set(keys.map(({ keyId }) => keyId))
  const all = [...keys, ...(await to.keys.keys())]
  const shared = new Set(all.filter(ofOthers).map(({ keyId }) => keyId))
  const readers = new Set<string>()
  for (const feed of feedNames) {
    for (const { keyId, name } of await from.consumers.readings({ tenantId, feed }))
      readers.add(`${keyId} ${name}`)
  }
  return (name, change) => {
    if (name.kind === 'publisher') return name.tenantId === tenantId
    if (!moving.has(name.keyId)) return false
    return !shared.has(name.keyId) || (change === 'new' && readers.has(`${name.keyId} ${name.name}`))
  }
}
