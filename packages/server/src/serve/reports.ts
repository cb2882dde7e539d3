/** Log lines about the state of the service: what was lost, maintenance, and silence. */
import type { Logger } from 'pino'
import type { SilenceChange } from '../consumers/silence/worker.ts'
import type { LostNumbers } from '../events/epochs.ts'
import type { Maintenance } from '../maintenance/maintenance.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { Metrics } from './metrics/metrics.ts'

/** The most feeds that one log line names. Its count includes the others. */
const namedAtMost = 50

/**
 * Reports to the operator that the store has lost numbers that were shown to readers, the worst thing that can happen to it (D13).
 * Returns a function that stops the reports.
 */
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
    const feeds = lost.slice(0, namedAtMost).map(({ key, shownNumber, heldNumber }) => {
      return { ...key, shown: shownNumber, held: heldNumber }
    })
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

/** Logs two lines for each maintenance: its beginning and its end, as this node notices them. */
export function maintenanceReporter(log: Logger): (maintenance: Maintenance | undefined) => void {
  return (maintenance) => {
    if (maintenance === undefined) {
      log.info('maintenance has ended: publications are taken again')
      return
    }
    const since = new Date(maintenance.sinceMs).toISOString()
    log.warn({ since }, 'maintenance is on: publications are refused until `maintenance off`')
  }
}

/** Logs two lines for each silence of a publisher or consumer: its beginning and its end. Only one node of all logs them (PROTOCOL §14.7). */
export function silenceReporter(log: Pick<Logger, 'info' | 'warn'>): (change: SilenceChange) => void {
  return ({ change, name, lastMs, expected, isBack }) => {
    const words = {
      event: name.kind === 'publisher' ? 'publisher.silent' : 'consumer.stalled',
      silence: change,
      ...(name.kind === 'publisher'
        ? { tenantId: name.tenantId, feed: name.feed }
        : { keyId: name.keyId, consumer: name.name }),
      lastAt: lastMs === undefined ? null : new Date(lastMs).toISOString(),
      expectedSeconds: expected === undefined ? null : Math.round(expected.ms / 1_000),
      expectation: expected === undefined ? 'none' : expected.isSet ? 'set' : 'learned',
    }
    if (change === 'began') log.warn(words, began[name.kind])
    else log.info(words, isBack ? back[name.kind] : 'nothing is expected of it any more')
  }
}

const began = {
  publisher: 'nothing was published to a feed for longer than expected',
  consumer: 'a consumer has not asked for longer than expected',
} as const

const back = {
  publisher: 'something was published again to a feed that was silent',
  consumer: 'a consumer asks again',
} as const
