import { readActor, readDeletionText } from '../deletion-record.ts'
import type { Deletion, DeletionState, OwnedCounts } from '../deletion-store.ts'
import type { Connection } from './connection.ts'

export interface DeletionRow {
  readonly deletion: string
  readonly tenant: string
  readonly actor: string
  readonly state: DeletionState
  readonly said: string
  readonly counts: string
  readonly property_digest: string
  readonly contact_digest: string
  readonly exporter: string | null
  readonly begun_ms: number
  readonly deleted_ms: number | null
}

export function deletionOf(row: DeletionRow): Deletion {
  const counts: OwnedCounts = JSON.parse(row.counts)
  return {
    deletionId: row.deletion,
    tenantId: row.tenant,
    state: row.state,
    actor: readActor(row.actor),
    ...readDeletionText(row.said),
    counts,
    digests: { property: row.property_digest, contact: row.contact_digest },
    begunMs: row.begun_ms,
    deletedMs: row.deleted_ms ?? undefined,
  }
}

export function deletionReader(db: Connection): (deletionId: string) => DeletionRow | undefined {
  const select = db.prepare<[string], DeletionRow>('SELECT * FROM tenant_deletion WHERE deletion = ?')
  return (deletionId) => select.get(deletionId)
}
