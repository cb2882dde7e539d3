/** A deletion as its table has it. */
import { statement } from '../../sql/database.ts'
import type { Query } from '../../sql/database.ts'
import type { Actor } from '../../audit/actor.ts'
import type {
  DeletedExport,
  DeletedFeed,
  Deletion,
  DeletionExport,
  DeletionState,
  OwnedCounts,
} from './deletion.ts'

export interface DeletionRow {
  readonly deletion: string
  readonly tenant: string
  readonly actor: string
  readonly state: DeletionState
  readonly facts: string
  readonly counts: string
  readonly property_digest: string
  readonly contact_digest: string
  readonly begun_ms: number
  readonly deleted_ms: number | null
}

const insert = statement(
  'deletion-insert',
  `INSERT INTO tenant_deletion (deletion, tenant, actor, state, facts, counts, property_digest, contact_digest, begun_ms,
      deleted_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (deletion) DO NOTHING`,
)
const update = statement(
  'deletion-update',
  `UPDATE tenant_deletion SET state = $2, facts = $3, counts = $4, property_digest = $5, contact_digest = $6, deleted_ms = $7
    WHERE deletion = $1`,
)

/** An existing one stays as it is. */
export function insertDeletion(deletion: Deletion): Query {
  const { deletionId, tenantId, actor, state, counts, digests, begunMs, deletedMs = null } = deletion
  const texts = [factsOf(deletion), JSON.stringify(counts), digests.property, digests.contact]
  return insert(deletionId, tenantId, actor, state, ...texts, begunMs, deletedMs)
}

/** Stores what has changed in the deletion. */
export function putDeletion(deletion: Deletion): Query {
  const { deletionId, state, counts, digests, deletedMs = null } = deletion
  const texts = [factsOf(deletion), JSON.stringify(counts), digests.property, digests.contact]
  return update(deletionId, state, ...texts, deletedMs)
}

export function deletionOf(row: DeletionRow): Deletion {
  const counts: OwnedCounts = JSON.parse(row.counts)
  const { name, export: by, exported, feeds }: DeletionFacts = JSON.parse(row.facts)
  return {
    deletionId: row.deletion,
    tenantId: row.tenant,
    state: row.state,
    actor: actorOf(row.actor),
    name,
    export: by,
    exported,
    feeds: feeds.map((feed) => ({
      ...feed,
      lastCreated: feed.lastCreated === null ? null : BigInt(feed.lastCreated),
    })),
    counts,
    digests: { property: row.property_digest, contact: row.contact_digest },
    begunMs: row.begun_ms,
    deletedMs: row.deleted_ms ?? undefined,
  }
}

/** What nothing is searched by. */
interface DeletionFacts {
  readonly name?: string | undefined
  readonly export: DeletionExport
  readonly exported?: DeletedExport | undefined
  readonly feeds: readonly (Omit<DeletedFeed, 'lastCreated'> & { readonly lastCreated: string | null })[]
}

function factsOf({ name, export: by, exported, feeds }: Deletion): string {
  const facts: DeletionFacts = {
    name,
    export: by,
    exported,
    feeds: feeds.map((feed) => ({ ...feed, lastCreated: feed.lastCreated?.toString() ?? null })),
  }
  return JSON.stringify(facts)
}

function actorOf(text: string): Actor {
  if (text.startsWith('key:')) return `key:${text.slice(4)}`
  if (text.startsWith('cli:')) return `cli:${text.slice(4)}`
  return 'service'
}
