/** Why a site shows something else, in one sentence for each consumer of a property. */
import { deliverySentence, deliveryStates, silentPublisherSentence } from '@property-events/protocol/plain'
import type { ConsumerDelivery, DeliveryState } from '@property-events/protocol/plain'
import type { DeliveredEvent, PropertyConsumer, PropertyConsumers } from '@property-events/protocol/wire'
import { nameOfConsumer } from '../consumer-name.ts'
import { oneLine, webAddress } from '../../words/plain.ts'
import { readTime } from '../../words/times.ts'

/** `done`: nothing to do. `waits`: may arrive by itself. `stopped`: somebody has to act. `other`: not meant for this consumer. */
export type AnswerMark = 'done' | 'waits' | 'stopped' | 'other'

export interface AnswerLine {
  readonly keyId: string
  /** `website`, `website · shop` of a consumer that shares a key, `Shop · webhook` of an endpoint. */
  readonly who: string
  readonly mark: AnswerMark
  readonly parts: readonly SentencePart[]
}

/** A part of a sentence. With `href`, it is a link. */
interface SentencePart {
  readonly text: string
  readonly href?: string
}

const marks: Readonly<Record<DeliveryState, AnswerMark>> = {
  live: 'done',
  applied: 'done',
  acknowledged: 'done',
  sent: 'done',
  waiting: 'waits',
  held: 'waits',
  pending: 'waits',
  refused: 'stopped',
  given_up: 'stopped',
  refused_by_us: 'stopped',
  skipped: 'other',
  never_asked: 'other',
  other_category: 'other',
  other_branch: 'other',
}

/** A consumer that has made no request for this long while something waits for it has stopped. */
const stoppedAfterMs = 10 * 60_000

const order: readonly AnswerMark[] = ['stopped', 'waits', 'done', 'other']

/** Consumers that need attention first, and always in the same order. Times follow the reader's clock. */
export function answerLines({ event, consumers }: PropertyConsumers, nowMs: number): readonly AnswerLine[] {
  const lines = consumers.map((consumer) => lineOf(event, consumer, nowMs))
  const rank = ({ mark }: AnswerLine): number => order.indexOf(mark)
  return lines.toSorted((a, b) => rank(a) - rank(b) || (a.who < b.who ? -1 : a.who > b.who ? 1 : 0))
}

function lineOf(event: DeliveredEvent, consumer: PropertyConsumer, nowMs: number): AnswerLine {
  const { url } = consumer
  const state = deliveryStates.find((known) => known === consumer.state)
  return {
    keyId: consumer.keyId,
    who: nameOfConsumer(consumer),
    mark: state === undefined ? 'waits' : markOf(state, event, consumer, nowMs),
    parts: partsOf(
      state === undefined
        ? consumer.sentence
        : sentenceOf(
            event,
            { ...consumer, state, message: oneLine(consumer.message ?? '', 600) || null },
            nowMs,
          ),
      url,
    ),
  }
}

/** The same sentence as on the command line, with the reader's local times. */
function sentenceOf(event: DeliveredEvent, delivery: ConsumerDelivery, nowMs: number): string {
  return deliverySentence(event, delivery, new Date(nowMs), localTime)
}

function markOf(
  state: DeliveryState,
  { publishedAt }: DeliveredEvent,
  { lastAskedAt, silentSince, webhook }: PropertyConsumer,
  nowMs: number,
): AnswerMark {
  if (webhook !== null && marks[state] === 'waits') {
    return webhook.state === 'enabled' && webhook.failingSince === null ? 'waits' : 'stopped'
  }
  if (state !== 'pending') return marks[state]
  if (silentSince !== null) return 'stopped'
  const publishedMs = readTime(publishedAt) ?? nowMs
  const askedMs = readTime(lastAskedAt) ?? 0
  return askedMs < publishedMs && nowMs - publishedMs >= stoppedAfterMs ? 'stopped' : 'waits'
}

/** `09:31`, and `28 Feb 09:31` on another day than `now`'s. */
function localTime(at: string, now: Date): string {
  const ms = readTime(at)
  if (ms === undefined) return at
  const time = new Date(ms)
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`
  if (time.toDateString() === now.toDateString()) return clock
  const year = time.getFullYear() === now.getFullYear() ? '' : ` ${time.getFullYear()}`
  return `${time.getDate()} ${months[time.getMonth()] ?? ''}${year} ${clock}`
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function two(number: number): string {
  return String(number).padStart(2, '0')
}

/** A sentence is short, but it can contain somebody else's message or address of 2,048 characters. */
const longestSentence = 3_000

/** The address in the sentence becomes a link if it is safe as one. */
function partsOf(sentence: string, url: string | null): readonly SentencePart[] {
  const whole = [{ text: oneLine(sentence, longestSentence) }]
  const href = url === null ? undefined : webAddress(url)
  if (url === null || href === undefined) return whole
  const start = sentence.indexOf(url)
  if (start < 0) return whole
  const before = sentence.slice(0, start)
  const after = sentence.slice(start + url.length)
  const parts: readonly SentencePart[] = [
    { text: spaced(before) },
    { text: oneLine(url, 200), href },
    { text: oneLine(after, longestSentence) },
  ]
  return parts.filter(({ text }) => text !== '')
}

/** One line, including the blank at its end. */
function spaced(text: string): string {
  return `${oneLine(text, longestSentence)}${/\s$/.test(text) ? ' ' : ''}`
}

/** What the feed may lack because its publisher is silent; `undefined`: nothing is known to be missing. */
export function publisherLine({ feed: { silentSince } }: PropertyConsumers, nowMs: number) {
  return silentSince === null ? undefined : silentPublisherSentence(silentSince, new Date(nowMs), localTime)
}

/** The headline above the sentences, for those who read only that, without its full stop. */
export function answerHeadline(lines: readonly AnswerLine[]): string {
  if (lines.length === 0) return 'No key can read this property, so no site receives it'
  const count = (mark: AnswerMark): number => lines.filter((line) => line.mark === mark).length
  const [stopped, waits, done] = [count('stopped'), count('waits'), count('done')]
  const parts = [
    ...(stopped > 0 ? [`${stopped} stopped`] : []),
    ...(waits > 0 ? [`${waits} waiting`] : []),
    ...(done > 0 ? [`${done} up to date`] : []),
  ]
  return parts.length === 0 ? 'No consumer is waiting for it' : parts.join(', ')
}
