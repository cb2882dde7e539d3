/** What steps to a later schema do afterwards, while nodes work: indexes, and filling in what rows lack. */
import type { Afterwards } from './migration-steps.ts'

export const fileOf = (name: string): URL => new URL(`./migrations/${name}`, import.meta.url)

/** From a subject to its events: for its history, and for everything that must reach all events of one subject. */
export const eventSubject: Afterwards = {
  kind: 'index',
  name: 'event_subject',
  on: 'ON event (tenant, feed, subject, position) WHERE sequence > 0',
}

/** Ids that were skipped before their time was recorded count from the upgrade on. */
export const skippedIds: Afterwards = {
  kind: 'backfill',
  name: 'event_id_skipped_since',
  file: fileOf('0005-skipped-ids.backfill.sql'),
}

/** It contains only skipped ids, so that finding the oldest is cheap however many events there are. */
export const skippedIdsIndex: Afterwards = {
  kind: 'index',
  name: 'event_id_skipped',
  on: 'ON event_id (tenant, feed, skipped) WHERE skipped IS NOT NULL',
}

/** From an event to the ids that were skipped because they came with its payload: an erasure removes their hashes too. */
export const skippedPositions: Afterwards = {
  kind: 'index',
  name: 'event_id_skipped_position',
  on: 'ON event_id (tenant, feed, position) WHERE skipped IS NOT NULL',
}

/** From a block of a feed to what keys were sent of it: for the recipients of what was erased. */
export const sentBlock: Afterwards = {
  kind: 'index',
  name: 'sent_block',
  on: 'ON sent (tenant, feed, block, hour, key_id, view)',
}

/** A hundred feeds at a time, so that no counter is locked for longer than those need. */
export const liveCounts: Afterwards = {
  kind: 'repeated',
  name: 'feed_live_counts',
  text: 'SELECT count_live_subjects(100) AS done',
}

/** From an action to its rows. */
export const auditAction: Afterwards = {
  kind: 'index',
  name: 'audit_action',
  on: 'ON audit (action, audit_no)',
}
