/** The states of tenants in a database: they are in the counters, which each append locks. */
import { feedNames } from '@property-events/protocol/plain'
import { tenantMoved } from '../../audit/changes.ts'
import type { Actor } from '../../audit/actor.ts'
import { defineWrite, statement } from '../../sql/database.ts'
import type { StoreAccess, Transaction } from '../../sql/database.ts'
import { moveStateOf, moveText } from './move.ts'
import type { MoveStore } from './move.ts'
import type { MoveState } from '../../events/feed.ts'

const notOpen = statement<{ readonly tenant: string; readonly move: string }>(
  'move-states',
  'SELECT DISTINCT tenant, move FROM feed WHERE move IS NOT NULL',
)
const lock = statement<{ readonly move: string | null }>(
  'move-lock',
  'SELECT move FROM feed WHERE tenant = $1 ORDER BY tenant, feed FOR NO KEY UPDATE',
)
const set = statement('move-set', 'UPDATE feed SET move = $2 WHERE tenant = $1')

/**
 * The states of the tenant's feeds, which are alike; none if there is no such tenant. Takes the counters as an append does: it waits for
 * those under way, and later ones see what is written.
 */
export async function lockedStates(tx: Transaction, tenantId: string): Promise<readonly MoveState[]> {
  return (await tx.rows(lock(tenantId))).map(({ move }) => moveStateOf(move))
}

/** For all feeds of the tenant. */
export async function setState(tx: Transaction, tenantId: string, state: MoveState): Promise<void> {
  await tx.rows(set(tenantId, moveText(state)))
  tx.changed(feedNames.map((feed) => ({ tenantId, feed })))
}

const change = defineWrite(
  'move-change',
  async (
    tx,
    tenantId: string,
    from: MoveState,
    to: MoveState,
    actor: Actor,
  ): Promise<'done' | 'otherState'> => {
    const states = await lockedStates(tx, tenantId)
    if (states.length === 0 || states.some((state) => state !== from)) return 'otherState'
    await setState(tx, tenantId, to)
    await tx.note(tenantMoved(tenantId, from, to), actor)
    return 'done'
  },
)

export function moveStore({ read, write }: StoreAccess): Pick<MoveStore, 'states' | 'change'> {
  return {
    async states() {
      const rows = await read.rows(notOpen())
      return new Map(rows.map(({ tenant, move }) => [tenant, moveStateOf(move)]))
    },
    change: (tenantId, from, to, actor) => write(change, tenantId, from, to, actor),
  }
}
