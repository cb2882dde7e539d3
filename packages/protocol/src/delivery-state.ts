/** What became of a property's latest event at a consumer, and what the sentences about it are made of. */
import type { DeliveredEvent, PropertyConsumer } from '../schemas/wire.ts'

export const deliveryStates = [
  'live',
  'held',
  'refused',
  'applied',
  'acknowledged',
  'waiting',
  'given_up',
  'skipped',
  'sent',
  'pending',
  'other_category',
  'other_branch',
  'refused_by_us',
  'never_asked',
] as const

/**
 * `live`, `held`, `refused`: the consumer reported this for the event. `applied`: the consumer reported that it has processed everything
 * up to the event. `sent`: the consumer has taken an answer that contained the event, which does not show what it did with it. `pending`:
 * the consumer makes requests, and has not been sent the event yet. `refused_by_us`: the service refuses the consumer's requests.
 *
 * Of endpoints alone: `acknowledged`: its receiver answered with 2xx. `waiting`: the event, or an earlier one of the property, was refused
 * and is tried again. `given_up`: it is not tried any more. `skipped`: the endpoint began after the event, or was moved past it.
 */
export type DeliveryState = (typeof deliveryStates)[number]

/** What is said of a consumer, without the sentence. */
export type ConsumerDelivery = Omit<PropertyConsumer, 'state' | 'sentence'> & {
  readonly state: DeliveryState
}

export interface Words {
  readonly event: DeliveredEvent
  readonly delivery: ConsumerDelivery
  readonly isRemoval: boolean
  readonly now: Date
  readonly time: (at: string) => string
}

export function since(at: string | null, time: Words['time']): string {
  return at === null ? '' : ` since ${time(at)}`
}

/** ` at 09:32`; ` on 28 Feb 17:00`, where the text begins with a day. */
export function on(at: string | null, time: Words['time']): string {
  if (at === null) return ''
  const text = time(at)
  return /^\d?\d:/.test(text) ? ` at ${text}` : ` on ${text}`
}

export const minuteMs = 60_000

export function delay({ publishedAt }: DeliveredEvent, at: string): string {
  const ms = Date.parse(at) + minuteMs - Date.parse(publishedAt)
  return ms <= 2 * minuteMs ? 'within a minute of being published' : `${duration(ms)} after it was published`
}

/** `1,204`. */
export function count(number: number | null): string {
  return number?.toLocaleString('en-GB') ?? 'no number'
}

/** In the largest unit that fits, or the two largest: `42 s`, `3 min`, `3 h 19 min`, `2 d 4 h`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  const days = Math.floor(hours / 24)
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`
}
