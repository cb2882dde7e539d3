/** The state of a consumer: how far it is behind, and what is wrong with it. */
import type { Consumer, ConsumerView } from '@property-events/protocol/wire'
import { nameOfConsumer } from '../consumer-name.ts'
import { counted, countText } from '../../words/numbers.ts'
import { oneLine } from '../../words/plain.ts'
import { webhookState } from '../webhooks/webhook-line.ts'
import { longSpanText, readTime, spanText } from '../../words/times.ts'

export interface ConsumerLine {
  readonly consumer: Consumer
  /** `website`, or `website · shop` of one that shares a key. */
  readonly who: string
  /** `stopped`: somebody has to act. */
  readonly mark: 'good' | 'behind' | 'stopped' | 'idle'
  readonly state: string
  /** How far it is behind, in the view where it is furthest behind; `undefined`: it reads no view. */
  readonly lag: ConsumerView | undefined
}

/** A consumer that is behind and has made no request for this long has stopped. */
const stoppedAfterMs = 10 * 60_000

/** Those that need attention first, then those that are furthest behind. */
export function consumerLines(consumers: readonly Consumer[], nowMs: number): readonly ConsumerLine[] {
  const order: readonly ConsumerLine['mark'][] = ['stopped', 'behind', 'good', 'idle']
  return consumers
    .map((consumer) => lineOf(consumer, nowMs))
    .toSorted(
      (a, b) =>
        order.indexOf(a.mark) - order.indexOf(b.mark) ||
        (b.lag?.lagEvents ?? 0) - (a.lag?.lagEvents ?? 0) ||
        (a.who < b.who ? -1 : 1),
    )
}

function lineOf(consumer: Consumer, nowMs: number): ConsumerLine {
  const who = nameOfConsumer(consumer)
  const lag = consumer.views.toSorted((a, b) => b.lagEvents - a.lagEvents)[0]
  return { consumer, who, lag, ...stateOf(consumer, lag, nowMs) }
}

/** What waits and was given up at an endpoint comes after its state. */
function endpointState(
  endpoint: NonNullable<Consumer['webhook']>,
  isBehind: boolean,
): Pick<ConsumerLine, 'mark' | 'state'> {
  const { waiting, givenUp } = endpoint
  const [mark, words] = webhookState(endpoint)
  const further = [
    ...(waiting > 0 ? [`${countText(waiting)} waiting`] : []),
    ...(givenUp > 0 ? [`${countText(givenUp)} given up`] : []),
  ]
  return {
    mark: mark === 'good' && (isBehind || waiting > 0) ? 'behind' : mark,
    state: [words, ...further].join(', '),
  }
}

function stateOf(
  { ended, refused, lastAskedAt, webhook }: Consumer,
  lag: ConsumerView | undefined,
  nowMs: number,
): Pick<ConsumerLine, 'mark' | 'state'> {
  if (webhook !== null) return endpointState(webhook, lag !== undefined && lag.lagEvents > 0)
  if (ended !== null) return { mark: 'stopped', state: endedWords(ended) }
  if (refused !== null) {
    return { mark: 'stopped', state: `${counted(refused.count, 'refusal')} (${oneLine(refused.code, 64)})` }
  }
  const askedMs = readTime(lastAskedAt)
  if (askedMs === undefined) return { mark: 'idle', state: 'no requests yet' }
  const quietMs = nowMs - askedMs
  const isBehind = lag !== undefined && lag.lagEvents > 0
  if (isBehind && quietMs >= stoppedAfterMs) {
    return { mark: 'stopped', state: `no requests for ${longSpanText(quietMs / 1_000)}` }
  }
  if (isBehind) return { mark: 'behind', state: 'catching up' }
  return { mark: 'good', state: lag === undefined ? 'reads single events' : 'up to date' }
}

const endings: Readonly<Record<string, string>> = {
  key_expired: 'key expired',
  key_revoked: 'key revoked',
  key_disabled: 'agency suspended',
}

/** A code that this page does not know is shown unchanged (PROTOCOL §9). */
function endedWords(code: string): string {
  return endings[code] ?? `key ended (${oneLine(code, 64)})`
}

/** `12 min, 95 % within 2 h`; `–` if it has reported no listing live. */
export function liveAfterWords({ timeToLive }: Consumer): string {
  const { p50Seconds = null, p95Seconds = null } = timeToLive ?? {}
  if (p50Seconds === null || p95Seconds === null) return '–'
  return `${spanText(p50Seconds)}, 95 % within ${spanText(p95Seconds)}`
}

/** `2, oldest 4 h; 1 never`; `–` if it has reported nothing about listings. */
export function notLiveWords({ timeToLive }: Consumer, nowMs: number): string {
  if (timeToLive === null) return '–'
  const { notLiveYet, oldestNotLiveAt, neverLive } = timeToLive
  const oldestMs = readTime(oldestNotLiveAt)
  const oldest = oldestMs === undefined ? '' : `, oldest ${spanText(Math.max(0, nowMs - oldestMs) / 1_000)}`
  return `${countText(notLiveYet)}${oldest}${neverLive === 0 ? '' : `; ${countText(neverLive)} never`}`
}

/** `412 events, 4 h`; `0` for a consumer that is up to date. */
export function lagWords(lag: ConsumerView | undefined): string {
  if (lag === undefined) return '–'
  if (lag.lagEvents === 0) return '0'
  return `${counted(lag.lagEvents, 'event')}, ${spanText(lag.lagSeconds)}`
}
