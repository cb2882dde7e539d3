/** What every engine computes for a deletion: its digest, and the text that it is stored as. */
import { hash } from 'node:crypto'
import type { FeedName } from '@property-events/protocol'
import type { Actor } from '../audit/audit.ts'
import type { DeletedExport, DeletedFeed, Deletion, DeletionExport, OwnedCounts } from './deletion-store.ts'

/** The digest of a feed from which no event has been removed. */
export const firstDigest = '0'.repeat(64)

/** SHA-256 of the previous digest and of the line `sequenceNumber id`: anyone who has the events can compute it again. */
export function nextDigest(digest: string, sequenceNumber: number, id: string): string {
  const line = Buffer.from(`${sequenceNumber} ${id}\n`)
  return hash('sha256', Buffer.concat([Buffer.from(digest, 'hex'), line]), 'hex')
}

export const noCounts: OwnedCounts = {
  events: 0,
  subjects: 0,
  keys: 0,
  grants: 0,
  erasures: 0,
  holds: 0,
  restrictions: 0,
  sent: 0,
}

export function withCounts(counts: OwnedCounts, more: Partial<OwnedCounts>): OwnedCounts {
  const { events = 0, subjects = 0, keys = 0, grants = 0 } = more
  const { erasures = 0, holds = 0, restrictions = 0, sent = 0 } = more
  return {
    events: counts.events + events,
    subjects: counts.subjects + subjects,
    keys: counts.keys + keys,
    grants: counts.grants + grants,
    erasures: counts.erasures + erasures,
    holds: counts.holds + holds,
    restrictions: counts.restrictions + restrictions,
    sent: counts.sent + sent,
  }
}

/** A deletion as stores keep it, apart from the columns they search by. */
export interface DeletionText {
  readonly name?: string | undefined
  readonly export: DeletionExport
  readonly exported?: DeletedExport | undefined
  readonly feeds: readonly (Omit<DeletedFeed, 'lastCreated'> & { readonly lastCreated: string | null })[]
}

export function deletionText(deletion: Pick<Deletion, 'name' | 'export' | 'exported' | 'feeds'>): string {
  const { name, export: by, exported, feeds } = deletion
  const text: DeletionText = {
    name,
    export: by,
    exported,
    feeds: feeds.map((feed) => ({ ...feed, lastCreated: feed.lastCreated?.toString() ?? null })),
  }
  return JSON.stringify(text)
}

export function readDeletionText(text: string): Pick<Deletion, 'name' | 'export' | 'exported' | 'feeds'> {
  const read: DeletionText = JSON.parse(text)
  return {
    name: read.name,
    export: read.export,
    exported: read.exported,
    feeds: read.feeds.map((feed) => ({
      ...feed,
      lastCreated: feed.lastCreated === null ? null : BigInt(feed.lastCreated),
    })),
  }
}

/** The actor as stored. */
export function readActor(text: string): Actor {
  if (text.startsWith('key:')) return `key:${text.slice(4)}`
  if (text.startsWith('cli:')) return `cli:${text.slice(4)}`
  return 'service'
}

/** Makes a value for each feed. */
export function byFeed<T>(valueOf: (feed: FeedName) => T): Readonly<Record<FeedName, T>> {
  return { property: valueOf('property'), contact: valueOf('contact') }
}
