/** Reports to the operator that the store has lost numbers that were shown to readers, the worst thing that can happen to it (D13). */
import type { Logger } from 'pino'
import type { StorageEngine } from '../../store/storage.ts'
import type { LostNumbers } from '../../events/epochs.ts'
import type { Metrics } from '../metrics/metrics.ts'

/** The most feeds that one log line names. Its count includes the others. */
const namedAtMost = 50

/** Returns a function that stops the reports. */
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

/** At least one: when a number now belongs to another event, the store holds as many numbers as were shown, or more. */
function missingOf({ shownNumber, heldNumber }: LostNumbers): number {
  return Math.max(1, shownNumber - heldNumber)
}

function numbersOf({ shownNumber, heldNumber }: LostNumbers) {
  return { shown: shownNumber, held: heldNumber }
}
