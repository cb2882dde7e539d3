import { deletionText, readActor, readDeletionText } from '../deletion-record.ts'
import type { Deletion, DeletionState, OwnedCounts } from '../deletion-store.ts'
import type { Row, Session, Statement } from './connection.ts'

export interface DeletionRow extends Row {
  readonly deletion: string
  readonly tenant: string
  readonly actor: string
  readonly state: DeletionState
  readonly said: string
  readonly counts: OwnedCounts
  readonly property_digest: string
  readonly contact_digest: string
  readonly exporter: string | null
  readonly begun_ms: string
  readonly deleted_ms: string | null
}

export function deletionOf(row: DeletionRow): Deletion {
  return {
    deletionId: row.deletion,
    tenantId: row.tenant,
    state: row.state,
    actor: readActor(row.actor),
    ...readDeletionText(row.said),
    counts: row.counts,
    digests: { property: row.property_digest, contact: row.contact_digest },
    begunMs: Number(row.begun_ms),
    deletedMs: row.deleted_ms === null ? undefined : Number(row.deleted_ms),
  }
}

export const readDeletion: Statement = {
  name: 'deletion',
  text: 'SELECT * FROM tenant_deletion WHERE deletion = $1',
}
/** Only one session at a time changes a deletion. */
export const lockDeletion: Statement = {
  name: 'deletion-lock',
  text: 'SELECT * FROM tenant_deletion WHERE deletion = $1 FOR NO KEY UPDATE',
}
const insert: Statement = {
  name: 'deletion-insert',
  text: `INSERT INTO tenant_deletion (deletion, tenant, actor, state, said, counts, property_digest, contact_digest, begun_ms,
      deleted_ms) VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
}
const update: Statement = {
  name: 'deletion-update',
  text: 'UPDATE tenant_deletion SET state = $2, said = $3, deleted_ms = $4 WHERE deletion = $1',
}

/** An existing one stays as it is. */
export async function insertDeletion(session: Session, deletion: Deletion): Promise<void> {
  const { deletionId, tenantId, actor, state, counts, digests, begunMs, deletedMs } = deletion
  const texts = [deletionText(deletion), JSON.stringify(counts), digests.property, digests.contact]
  await session.query(insert, [deletionId, tenantId, actor, state, ...texts, begunMs, deletedMs ?? null])
}

/** Counts and digests stay: the functions that remove rows maintain them. */
export async function putDeletion(session: Session, deletion: Deletion): Promise<void> {
  const { deletionId, state, deletedMs } = deletion
  await session.query(update, [deletionId, state, deletionText(deletion), deletedMs ?? null])
}
