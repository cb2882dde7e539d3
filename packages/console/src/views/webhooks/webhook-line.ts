/** An endpoint, its tries, and what waits at it, in words; and the form to make one. */
import { endpointReason } from '@property-events/protocol/plain'
import type {
  NewWebhook,
  Webhook,
  WebhookDelivery,
  WebhookGivenUpEvent,
  WebhookWaitingSubject,
} from '@property-events/protocol/wire'
import type { FeedName } from '../../base.ts'
import { readCount } from '../../words/numbers.ts'
import { oneLine } from '../../words/plain.ts'

/** `stopped`: somebody has to act. */
export type WebhookMark = 'good' | 'behind' | 'stopped' | 'idle'

/** `paused`, `disabled: its receiver answered with 410`, `failing`, `enabled`. Unknown words are shown unchanged (PROTOCOL §9). */
export function webhookState({
  state,
  reason,
  failingSince,
}: Pick<Webhook, 'state' | 'reason' | 'failingSince'>): readonly [mark: WebhookMark, words: string] {
  if (state !== 'enabled') {
    const why = endpointReason(reason)
    const words = oneLine(why === undefined ? state : `${state}: ${why}`)
    return [reason === 'asked' ? 'idle' : 'stopped', words]
  }
  return failingSince === null ? ['good', 'enabled'] : ['stopped', 'failing']
}

/** `Siop £`, or where it is. */
export function webhookName({ label, url }: Pick<Webhook, 'label' | 'url'>): string {
  return oneLine(label, 80) || oneLine(url.replace('https://', ''), 80)
}

const outcomes: Readonly<Record<string, readonly [mark: WebhookMark, words: string]>> = {
  acknowledged: ['good', 'acknowledged'],
  refused: ['stopped', 'refused'],
  unreachable: ['stopped', 'unreachable'],
  postponed: ['behind', 'asked to wait'],
  givenUp: ['stopped', 'given up'],
}

export function outcomeOf(outcome: string): readonly [mark: WebhookMark, words: string] {
  return outcomes[outcome] ?? ['behind', oneLine(outcome, 40)]
}

/** `500: Closed on Sundays`; `no answer: connection refused`. */
export function answerWords({ status, answer }: Pick<WebhookDelivery, 'status' | 'answer'>): string {
  return `${status ?? 'no answer'}${answer === null ? '' : `: ${oneLine(answer, 300)}`}`
}

/** A property or contact that waits, or one of its events that was given up. */
export interface WaitingLine {
  readonly subject: string
  readonly sequenceNumber: number
  readonly tries: number
  /** `undefined`: it was given up. */
  readonly nextTryAt: string | null | undefined
  readonly givenUpAt: string | undefined
  /** The last try, as far as it is among those that were read. */
  readonly last: WebhookDelivery | undefined
}

export function waitingLines(
  waiting: readonly WebhookWaitingSubject[],
  givenUp: readonly WebhookGivenUpEvent[],
  tries: readonly WebhookDelivery[],
): readonly WaitingLine[] {
  const lastOf = (subject: string, number: number) =>
    tries.find((one) => one.subject === subject && one.sequenceNumber === number)
  return [
    ...waiting.map((one) => ({ ...one, givenUpAt: undefined })),
    ...givenUp.map(({ at, ...one }) => ({ ...one, tries: 0, nextTryAt: undefined, givenUpAt: at })),
  ].map((one) => ({ ...one, last: lastOf(one.subject, one.sequenceNumber) }))
}

export interface WebhookForm {
  readonly url: string
  readonly label: string
  readonly feed: FeedName
  /** One of `eventChoices`. */
  readonly events: string
  readonly payload: NewWebhook['payload']
  readonly mode: NewWebhook['mode']
  /** Empty: the end of the feed. */
  readonly after: string
}

const eventTypes = ['property', 'salesproperty', 'lettingsproperty', 'contact'] as const

/** What can be sent of a feed: its views, or what happens to its other endpoints. */
export function eventChoices(feed: FeedName): readonly (readonly [value: string, says: string])[] {
  return [
    ...eventTypes
      .filter((type) => type.endsWith(feed))
      .map((type) => [type, type === feed ? 'All events' : `Events of ${type.replace(feed, '')}`] as const),
    ['operations', 'What happens to the other endpoints'],
  ]
}

type WebhookReading =
  | { readonly kind: 'body'; readonly body: NewWebhook }
  | { readonly kind: 'fault'; readonly field: 'url' | 'after'; readonly message: string }

/** The service checks it again. */
export function readWebhookForm({ url, after, events, payload, ...form }: WebhookForm): WebhookReading {
  const address = url.trim()
  if (!URL.canParse(address)) return { kind: 'fault', field: 'url', message: 'Enter an https address.' }
  const number = readAfter(after)
  if (number === undefined) return { kind: 'fault', field: 'after', message: 'Enter a number, or nothing.' }
  const apiEventType = eventTypes.find((type) => type === events)
  return {
    kind: 'body',
    body: {
      ...form,
      url: address,
      label: form.label.trim(),
      ...(apiEventType === undefined ? { events: 'operations' } : { apiEventType }),
      payload: form.feed === 'contact' ? 'thin' : payload,
      after: number,
    },
  }
}

/** `0` is before the first event. */
function readAfter(text: string): number | 'head' | undefined {
  if (text.trim() === '') return 'head'
  return text.trim() === '0' ? 0 : readCount(text)
}
