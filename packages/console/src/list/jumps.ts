/** Finds the row of a number or a moment, with at most three requests, none of which depends on the length of the feed. */
import type { FeedEvent } from '@property-events/protocol/wire'
import { listEvents, readEvents } from '../service/operations/feeds.ts'
import type { FeedAddress } from '../service/operations/feeds.ts'
import type { Operation } from '../service/operation.ts'
import type { Failure, Outcome } from '../service/failure.ts'

export type Send = <T>(operation: Operation<T>) => Promise<Outcome<T>>

/** `row` counts from 0. It is the end of the view if nothing in it follows the target. */
export type Jump = { readonly row: number } | { readonly failure: Failure } | undefined

/** The row of the first event of the view with this number or a greater one. */
export async function rowOfNumber(
  send: Send,
  address: FeedAddress,
  apiEventType: string | undefined,
  number: number,
): Promise<Jump> {
  const outcome = await send(readEvents(address, { after: number - 1, limit: 1, apiEventType }))
  // The feed has not reached this number: the last row is the nearest.
  if (outcome.kind === 'failure' && outcome.failure.code === 'cursor_beyond_head')
    return countBefore(send, address, apiEventType, undefined)
  if (outcome.kind === 'failure') return { failure: outcome.failure }
  if (outcome.kind !== 'answer') return undefined
  const [event] = outcome.value.items
  return countBefore(send, address, apiEventType, event?.createdDate)
}

/** The row of the first event of the view at or after a moment, in milliseconds. */
export function rowOfMoment(
  send: Send,
  address: FeedAddress,
  apiEventType: string | undefined,
  ms: number,
): Promise<Jump> {
  return countBefore(send, address, apiEventType, `${new Date(ms).toISOString().slice(0, 23)}0000`)
}

/** The number of the first event of the view at or after a moment; `undefined`: none follows it. */
export async function numberOfMoment(
  send: Send,
  address: FeedAddress,
  apiEventType: string | undefined,
  ms: number,
): Promise<number | Failure | undefined> {
  const from = new Date(ms).toISOString()
  const outcome = await send(listEvents(address, { apiEventType, page: 1, pageSize: 1, from }))
  if (outcome.kind === 'failure') return outcome.failure
  return outcome.kind === 'answer' ? outcome.value.items[0]?.sequenceNumber : undefined
}

/** Times rise with numbers (P3), so the events before a time are the rows above it. */
async function countBefore(
  send: Send,
  address: FeedAddress,
  apiEventType: string | undefined,
  createdDate: FeedEvent['createdDate'] | undefined,
): Promise<Jump> {
  const to = createdDate === undefined ? undefined : tickBefore(createdDate)
  const outcome = await send(listEvents(address, { apiEventType, page: 1, pageSize: 1, to }))
  if (outcome.kind === 'failure') return { failure: outcome.failure }
  return outcome.kind === 'answer' ? { row: outcome.value.availableCount } : undefined
}

/** The last time before this one: 100 ns earlier, in the form of `createdDate`. `to` includes its last digit (D5). */
export function tickBefore(createdDate: string): string {
  const [second = '', fraction = ''] = createdDate.replace(/Z$/, '').split('.')
  const ticks = Number(fraction.padEnd(7, '0').slice(0, 7))
  if (ticks > 0) return `${second}.${String(ticks - 1).padStart(7, '0')}`
  const before = new Date(Date.parse(`${second}Z`) - 1_000).toISOString().slice(0, 19)
  return `${before}.9999999`
}
