/** Epochs in a store's file: beginning one, and where publishing waits for one (D13). */
import { feedNames } from '@property-events/protocol/plain'
import { newEpochId } from '../../events/epochs.ts'
import { epochStarted, historyAccepted, maintenanceSet } from '../../audit/changes.ts'
import { endMaintenance } from '../../maintenance/store.ts'
import { statementRunner } from '../../sql/sqlite.ts'
import { feedName } from '../../events/feed-key.ts'
import { removeSiteRows } from '../site-rows.ts'
import type { Actor } from '../../audit/actor.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { NoteChanges } from '../../sql/sqlite.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { feedReader, headReader, feedToPublishReader } from '../../events/sqlite/feed-row.ts'
import { metaOf } from './meta.ts'
import { webhooksCopied } from '../../audit/webhook-changes.ts'
import type { CopiedWebhooks } from '../../webhooks/endpoint.ts'
import { pauseCopied } from '../../webhooks/endpoint-rows.ts'
import type { EpochNeed, WaitingFeed } from '../../events/epochs.ts'

/**
 * A new epoch in every feed, or in the given ones, in one commit (D13): the next numbers come after all that were or may have
 * been shown.
 */
export function startEpoch(
  db: Connection,
  note: NoteChanges,
  continueAfter: number,
  actor: Actor,
  keys: readonly FeedKey[] | undefined,
  webhooks: CopiedWebhooks = 'paused',
): void {
  const begin = db.transaction(() => {
    leavePlace(db, note, actor, keys === undefined, webhooks)
    if (keys === undefined) startEverywhere(db, continueAfter)
    const begun = keys && startIn(db, continueAfter, keys)
    note(epochStarted(continueAfter, begun), actor)
  })
  begin.immediate()
}

function leavePlace(
  db: Connection,
  note: NoteChanges,
  actor: Actor,
  isEverywhere: boolean,
  webhooks: CopiedWebhooks,
): void {
  const isCopy = metaOf(db).get('needs_epoch') === '1'
  if (!isCopy && !isEverywhere) return
  for (const text of removeSiteRows(isCopy)) db.prepare(text).run()
  const run = statementRunner(db)
  const ended = isCopy ? run(endMaintenance()) : []
  if (ended.length > 0) note(maintenanceSet(undefined), actor)
  const paused = isCopy && webhooks === 'paused' ? run(pauseCopied(Date.now())) : []
  if (paused.length > 0) note(webhooksCopied(paused), actor)
}

const beginSql = 'UPDATE feed SET epoch = ?, offset = ? - last_position, needs_epoch = 0 WHERE feed_no = ?'

function startEverywhere(db: Connection, continueAfter: number): void {
  const meta = metaOf(db)
  const held = db
    .prepare<[], number>(
      `SELECT coalesce(max(event.sequence), 0)
        FROM feed CROSS JOIN event ON event.place = (feed.feed_no << 40) | feed.last_position`,
    )
    .pluck()
    .get()
  const offset = Math.max(continueAfter, Number(meta.get('first_offset')), held ?? 0)
  const feeds = db.prepare<[], number>('SELECT feed_no FROM feed').pluck().all()
  const update = db.prepare(beginSql)
  for (const feedNo of feeds) update.run(newEpochId(), offset, feedNo)
  meta.set('first_offset', String(offset))
  meta.set('needs_epoch', '0')
}

/** Returns those of the feeds that exist, each once. */
function startIn(db: Connection, continueAfter: number, keys: readonly FeedKey[]): readonly FeedKey[] {
  const meta = metaOf(db)
  if (meta.get('needs_epoch') === '1') db.prepare('UPDATE feed SET needs_epoch = 1').run()
  meta.set('needs_epoch', '0')
  const [feedOf, headOf] = [feedReader(db), headReader(db)]
  const update = db.prepare(beginSql)
  const begun = [...new Map(keys.map((key) => [feedName(key), key])).values()]
  return begun.filter((key) => {
    const feed = feedOf(key)
    if (feed === undefined) return false
    const offset = Math.max(continueAfter, headOf(feed).sequenceNumber)
    update.run(newEpochId(), offset, feed.feedNo)
    return true
  })
}

/** Publishing continues in the present epochs, because an operator knows that nothing is missing. */
export function acceptHistory(db: Connection, note: NoteChanges, actor: Actor): 'accepted' {
  const accept = db.transaction(() => {
    const { changes } = db.prepare('UPDATE feed SET needs_epoch = 0 WHERE needs_epoch = 1').run()
    if (changes === 0 && metaOf(db).get('needs_epoch') === '0') return
    metaOf(db).set('needs_epoch', '0')
    note(historyAccepted(), actor)
  })
  accept.immediate()
  return 'accepted'
}

interface EpochReads {
  epochNeed(): EpochNeed
  waitingFeeds(): readonly WaitingFeed[]
}

/** Reads where publishing waits for a new epoch (D13). */
export function epochReads(db: Connection): EpochReads {
  const meta = metaOf(db)
  const count = db.prepare<[], { waiting: number | null; feeds: number }>(
    'SELECT sum(needs_epoch) AS waiting, count(*) AS feeds FROM feed',
  )
  const selectTenants = db.prepare<[], string>('SELECT tenant FROM tenant ORDER BY tenant_no').pluck()
  const [feedOf, headOf] = [feedToPublishReader(db), headReader(db)]
  return {
    epochNeed() {
      const { waiting, feeds } = count.get() ?? { waiting: 0, feeds: 0 }
      const isWhole = meta.get('needs_epoch') === '1'
      if (isWhole || (waiting !== null && waiting > 0 && waiting === feeds)) return 'all'
      return waiting === null || waiting === 0 ? 'none' : 'some'
    },
    waitingFeeds: db.transaction((): readonly WaitingFeed[] => {
      const keys = selectTenants.all().flatMap((tenantId) => feedNames.map((feed) => ({ tenantId, feed })))
      return keys.flatMap((key) => {
        const feed = feedOf(key)
        if (feed === undefined || !feed.needsEpoch) return []
        return [{ key, heldNumber: headOf(feed).sequenceNumber, shownNumber: undefined }]
      })
    }),
  }
}
