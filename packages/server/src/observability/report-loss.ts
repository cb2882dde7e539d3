/** Tells the operator that the store has lost what was shown to others: it is the gravest thing that can happen to it (D13). */
import type { Logger } from 'pino'
import type { LostNumbers, StorageEngine } from '../storage/storage.ts'
import type { Metrics } from './metrics.ts'

/** Feeds named in one line of the log; the count tells of the others. */
const namedAtMost = 50

/** Returns how to stop. */
export function reportLoss(
  storage: Pick<StorageEngine, 'onLoss'>,
  log: Logger,
  metrics: Pick<Metrics, 'missing'>,
): () => void {
  return storage.onLoss((lost) => {
    metrics.missing(lost.reduce((sum, one) => sum + missingOf(one), 0))
    if (lost.length === 0) {
      log.info('no number is missing any more')
      return
    }
    const feeds = lost.slice(0, namedAtMost).map((one) => ({ ...one.key, ...numbersOf(one) }))
    log.error(
      { lostFeeds: lost.length, feeds },
      'the store lacks numbers that this node has shown: publishing to these feeds waits for `epoch start`',
    )
  })
}

/** At least one: where a number stands for another event now, as many are held as were shown, or more. */
function missingOf({ shownNumber, heldNumber }: LostNumbers): number {
  return Math.max(1, shownNumber - heldNumber)
}

function numbersOf({ shownNumber, heldNumber }: LostNumbers) {
  return { shown: shownNumber, held: heldNumber }
}
