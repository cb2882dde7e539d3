/** What became of a property's latest event at one consumer (D28, PROTOCOL §14), and the sentence that says so. */
import type { DeliveredEvent } from '../schemas/wire.ts'
import { givenUpSentence, isSending, stoppage, waitingSentence } from './delivery-endpoint.ts'
import { count, delay, duration, minuteMs, on, since } from './delivery-state.ts'
import type { ConsumerDelivery, DeliveryState, Words } from './delivery-state.ts'
import { meaningOf } from './event-types.ts'

/** Formats a time for a sentence. Default: in UTC, without the day if it is the same day as `now`. */
type TimeWords = (at: string, now: Date) => string

function utcTime(at: string, now: Date): string {
  const isToday = at.slice(0, 10) === now.toISOString().slice(0, 10)
  return isToday ? at.slice(11, 16) : `${at.slice(0, 10)} ${at.slice(11, 16)}`
}

/** One or two sentences for people. They never claim more than is known. */
export function deliverySentence(
  event: DeliveredEvent,
  delivery: ConsumerDelivery,
  now: Date,
  time: TimeWords = utcTime,
): string {
  const words: Words = { event, delivery, isRemoval: isRemoval(event), now, time: (at) => time(at, now) }
  const further = `${usualTime(words)}${stoppage(words)}${silence(words)}${numbersOther(words)}`
  return `${sentences[delivery.state](words)}${further}`
}

/** Where a publisher stands that should have published: its property may have changed, and the feed does not know it. */
export function silentPublisherSentence(silentSince: string, now: Date, time: TimeWords = utcTime): string {
  const ago = duration(now.getTime() - Date.parse(silentSince))
  return `Nothing has been published for the agency since ${time(silentSince, now)} (${ago}), for longer than expected: what it has changed since then is not in the feed.`
}

const sentences: Readonly<Record<DeliveryState, (words: Words) => string>> = {
  live({ delivery: { at, url }, isRemoval, time }) {
    if (isRemoval) return `It says that the property has been down${since(at, time)}.`
    return `Live${since(at, time)}${url === null ? ', at an address that it does not name' : `: ${url}`}.`
  },
  held: (words) => `It holds this version back${since(words.delivery.at, words.time)}${reason(words)}.`,
  refused: (words) => `It refused this version${on(words.delivery.at, words.time)}${reason(words)}.`,
  applied({ delivery: { at, acknowledged, earlier }, event, isRemoval, time }) {
    const what = isRemoval ? 'the removal' : 'this version'
    const through =
      acknowledged === event.sequenceNumber ? '' : ` (everything through ${count(acknowledged)})`
    const before = earlier === null ? '' : `, and reported "${earlier.outcome}" of an earlier version`
    return `It reported${on(at, time)} that it has applied ${what}${through}${before}. It has not reported whether the site shows it.`
  },
  acknowledged({ delivery: { at }, event, time }) {
    const when = at === null ? '; the minute is no longer on record' : `${on(at, time)}, ${delay(event, at)}`
    return `Its receiver acknowledged it${when}. It has not reported a result.`
  },
  waiting: waitingSentence,
  given_up: givenUpSentence,
  skipped: () => 'Not sent, as far as is recorded: the endpoint begins after this version.',
  sent: sentSentence,
  pending: pendingSentence,
  other_category({ delivery: { views }, event }) {
    return `It reads ${views.join(' and ')} only; this is ${event.category ?? 'of no category'}.`
  },
  other_branch: () => 'Its key reads other branches, not the one of this property.',
  refused_by_us: refusedByUs,
  never_asked: () => 'It has never requested this feed.',
}

function reason({ delivery: { code, message } }: Words): string {
  const why = [code, message].filter((one) => one !== null).join(', ')
  return why === '' ? ', without a reason' : `: ${why}`
}

const routeWords: Readonly<Record<string, string>> = {
  list: 'the list',
  current: 'the list of current events',
  event: 'its id',
  run: 'the events after a number',
  wait: 'a long poll',
  stream: 'the stream',
  snapshot: 'a snapshot',
  latest: 'the latest of the property',
  history: 'the history of the property',
  webhook: 'its webhook',
}

function sentSentence({ delivery, event, now, time }: Words): string {
  const { at, route, acknowledged } = delivery
  const by = route === null ? '' : ` by ${routeWords[route] ?? route}`
  const when =
    at === null ? 'Sent; the minute is no longer on record' : `Sent${by}${on(at, time)}, ${delay(event, at)}`
  if (delivery.webhook !== null) return `${when}. Its receiver has not acknowledged it.`
  const unsaid =
    acknowledged === null
      ? ' It has not reported a result.'
      : ` It reported that it has applied everything through ${count(acknowledged)}, which does not include this.`
  return `${when}.${unsaid}${asked(delivery, now, time)}`
}

function asked(
  { lastAskedAt, lastNothingNewAt }: Pick<ConsumerDelivery, 'lastAskedAt' | 'lastNothingNewAt'>,
  now: Date,
  time: Words['time'],
): string {
  if (lastAskedAt === null) return ''
  const ago = now.getTime() - Date.parse(lastAskedAt)
  const quiet =
    lastNothingNewAt !== null && lastNothingNewAt >= lastAskedAt ? ', and there was nothing new' : ''
  return ` Its last request was${on(lastAskedAt, time)} (${duration(ago)} ago)${quiet}.`
}

function pendingSentence({ delivery, event, now, time }: Words): string {
  const { lastAskedAt, earlier, webhook } = delivery
  if (webhook !== null) return isSending(webhook) ? 'Not sent yet.' : 'Not sent.'
  const before =
    earlier === null
      ? ''
      : ` It reported "${earlier.outcome}" of an earlier version (${count(earlier.sequenceNumber)}).`
  if (lastAskedAt === null) return `Not sent. The time of its last request is not known.${before}`
  const ago = duration(now.getTime() - Date.parse(lastAskedAt))
  if (lastAskedAt < event.publishedAt) {
    const isYoung = now.getTime() - Date.parse(event.publishedAt) < silentMs
    const cause = isYoung ? '' : '; it has stopped, or a cache in between answers instead of the service'
    return `Not sent: it has made no request since ${time(lastAskedAt)} (${ago})${cause}.${before}`
  }
  return `Not sent: it made a request${on(lastAskedAt, time)} (${ago} ago), and this event was not in what it requested.${before}`
}

/** How long it takes with others, where this one is not live yet. */
function usualTime({ delivery: { state, timeToLive }, isRemoval }: Words): string {
  if (isRemoval || !['applied', 'acknowledged', 'sent', 'pending'].includes(state)) return ''
  const { p50Seconds = null, p95Seconds = null } = timeToLive ?? {}
  if (p50Seconds === null || p95Seconds === null) return ''
  return ` Half of its listings are live within ${duration(p50Seconds * 1_000)}, 95 of 100 within ${duration(p95Seconds * 1_000)}.`
}

/** A consumer is not called silent when its requests are refused, or when the event is not meant for it. */
const silentStates: readonly DeliveryState[] = [
  'live',
  'held',
  'refused',
  'applied',
  'sent',
  'pending',
  'never_asked',
]

function silence({ delivery: { silentSince, state, lastAskedAt }, now, time }: Words): string {
  if (silentSince === null || !silentStates.includes(state)) return ''
  // The sentence has already said when the consumer last asked.
  const isSaid = lastAskedAt === silentSince && (state === 'sent' || state === 'pending')
  const ago = duration(now.getTime() - Date.parse(silentSince))
  const since = isSaid ? '' : ` since ${time(silentSince)} (${ago}),`
  return ` It has been silent${since} for longer than expected.`
}

/** Nothing is late for an event younger than this. */
const silentMs = 10 * minuteMs

const codeWords: Readonly<Record<string, string>> = {
  key_revoked: 'Its key was revoked',
  key_expired: 'Its key expired',
  key_disabled: 'Its key is disabled, because the tenant is suspended or has left',
  key_network: 'Its requests come from a network that its key does not allow',
  key_scope: 'Its requests name a tenant or a feed that its key does not read',
  missing_scope: 'Its requests name a tenant or a feed that its key does not read',
  ambiguous_tenant: 'Its key reads several tenants, and its requests name none',
  rate_limited: 'It makes more requests than its key allows',
  too_many_at_once: 'It makes more requests at a time than its key allows',
  too_many_waiting: 'It has more requests waiting than its key allows',
  too_many_snapshots: 'It reads more snapshots at a time than its key allows',
  epoch_changed: 'It goes on from an epoch that has ended, and has to begin again with a snapshot',
  cursor_beyond_head:
    'It goes on from a number that this feed never had, as of another feed, and has to begin again with a snapshot',
  invalid_parameter: 'Its requests have a parameter that is not allowed',
  moment_expired:
    'It takes longer than 10 minutes for a list of current events, and has to begin again with page 1',
  not_acceptable: 'Its requests accept no JSON',
}

function refusedByUs({ delivery: { at, code, refusals }, time }: Words): string {
  const why = codeWords[code ?? ''] ?? 'Its requests are refused'
  const times = refusals === null ? '' : refusals === 1 ? ', one refusal' : `, ${count(refusals)} refusals`
  const when = code === 'key_expired' || code === 'key_revoked' ? on(at, time) : since(at, time)
  return `${why}${when}${times} (${code ?? 'no code'}).`
}

function numbersOther({ delivery: { eventType, state }, event }: Words): string {
  if (eventType === null || !['sent', 'acknowledged', 'applied', 'live', 'held', 'refused'].includes(state))
    return ''
  return ` Its key reads the numbers of ${eventType.catalogue}: ${event.eventTypeShortCode} is ${eventType.number}.`
}

function isRemoval({ eventTypeShortCode }: DeliveredEvent): boolean {
  return meaningOf('property', eventTypeShortCode) === 'gone'
}
