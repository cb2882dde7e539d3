/** While events are copied and compared, no event of the source may lose its payload because of its age: the two would differ. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { StorageEngine } from '@property-events/server'

/** Well within the ten seconds that a turn lasts. */
const renewEveryMs = 2_000
const waitMs = 500

/** Runs the work while nothing is thinned in the store, as if this were the node that thins. Waits for another node that does. */
export async function withoutThinning<T>(
  { retention }: Pick<StorageEngine, 'retention'>,
  work: () => Promise<T>,
): Promise<T> {
  const nodeId = randomUUID()
  // A role that may only read cannot take a turn, and copies anyway.
  while (!(await retention.takeTurn(nodeId).catch(() => true))) await delay(waitMs)
  // If this fails, others get the turn: then a comparison may fail, and says so.
  const renewing = setInterval(() => void retention.takeTurn(nodeId).catch(() => undefined), renewEveryMs)
  try {
    return await work()
  } finally {
    clearInterval(renewing)
    await retention.endTurn(nodeId).catch(() => undefined)
  }
}

/** The tenants' own rules, of all tenants or of one. */
export async function copyRules(
  from: StorageEngine,
  to: StorageEngine,
  actor: Parameters<StorageEngine['retention']['setRule']>[3],
  tenantId?: string,
): Promise<void> {
  const wanted = await from.retention.rules(tenantId)
  for (const { tenantId: of, rule, days } of wanted) await to.retention.setRule(of, rule, days, actor)
  for (const held of await to.retention.rules(tenantId)) {
    const isKept = wanted.some(({ tenantId: of, rule }) => of === held.tenantId && rule === held.rule)
    if (!isKept) await to.retention.setRule(held.tenantId, held.rule, undefined, actor)
  }
}
