/**
 * Logs two lines for each silence of a publisher or consumer: its beginning and its end. Only one node of all logs them (PROTOCOL §14.7).
 */
import type { Logger } from 'pino'
import type { SilenceChange } from '../../consumers/silence/worker.ts'

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
