import { feedNames } from '@property-events/protocol/plain'
import type { EpochNeed, WaitingFeed } from '../../events/epochs.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { feedToPublishReader, headReader } from '../../events/sqlite/feed-row.ts'
import { metaOf } from './meta.ts'

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
