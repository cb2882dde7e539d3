/** What a copy of a store, or of one tenant, takes along beside events and keys. */
import type { Actor } from '../audit/actor.ts'
import type { Leaving } from '../tenants/leaving/leaving.ts'
import type { DisclosurePiece } from '../privacy/disclosure/disclosure.ts'
import type { StorageEngine } from '../store/storage.ts'
import { copyConsumers } from './copy-consumers.ts'
import { copyExpectations } from './copy-expectations.ts'

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
