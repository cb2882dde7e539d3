/** What prevents a tenant from being deleted. */
import { statement } from '../../sql/database.ts'
import type { Sql } from '../../sql/database.ts'
import { isBeingMoved, moveStateOf } from '../../tenants/move/move.ts'
import type { DeletionRefusal } from './deletion.ts'
import { isAdmitted, tenantStateOf } from '../tenant-state.ts'

interface Obstacles {
  readonly suspended: boolean | number
  readonly reading_ends_ms: number | null
  readonly holds: number
  readonly held_until: number | null
  readonly erasing: boolean | number
}

const movesOf = statement<{ readonly move: string | null }>(
  'deletion-moves',
  'SELECT move FROM feed WHERE tenant = $1',
)
const heldNow = 'hold WHERE tenant = $1 AND ended_ms IS NULL AND until_ms > $2'
const obstacles = statement<Obstacles>(
  'deletion-obstacles',
  `SELECT t.suspended, l.reading_ends_ms,
      (SELECT count(*) FROM ${heldNow}) AS holds,
      (SELECT max(until_ms) FROM ${heldNow}) AS held_until,
      EXISTS (SELECT 1 FROM erasure WHERE tenant = $1 AND state = 'reducing')
        OR EXISTS (SELECT 1 FROM restriction WHERE tenant = $1 AND state IN ('hiding', 'lifting')) AS erasing
    FROM tenant t LEFT JOIN leaving_tenant l ON l.tenant = t.tenant WHERE t.tenant = $1`,
)

/** `undefined`: nothing does, or it is being deleted. */
export async function deletionRefusal(sql: Sql, tenantId: string): Promise<DeletionRefusal | undefined> {
  const moves = (await sql.rows(movesOf(tenantId))).map(({ move }) => moveStateOf(move))
  if (moves.length === 0) return { kind: 'unknownTenant' }
  if (moves.includes('deleting')) return undefined
  if (moves.some(isBeingMoved)) return { kind: 'tenantMoving' }
  const nowMs = await sql.nowMs()
  const [found] = await sql.rows(obstacles(tenantId, nowMs))
  if (found === undefined) return { kind: 'unknownTenant' }
  const { suspended, reading_ends_ms: readingEndsMs, holds, held_until: untilMs } = found
  const state = tenantStateOf(
    { suspended: Boolean(suspended), readingEndsMs: readingEndsMs ?? undefined },
    nowMs,
  )
  if (isAdmitted(state)) return { kind: 'inUse' }
  if (holds > 0) return { kind: 'onHold', holds, untilMs: untilMs ?? nowMs }
  return found.erasing ? { kind: 'erasing' } : undefined
}
