/** How rows of consumers are named in statements and in the tables. */
import { feedName } from '../events/feed-key.ts'
import { feedNumbers, feedOfNumber } from '../sql/database.ts'
import type { ConsumerName, ReadPart } from './consumer.ts'

/** Columns of rows that are given have names of their own: the statements also name the tables' columns. */
export const givenConsumer = {
  of_tenant: 'uuid',
  of_feed: 'integer',
  of_key: 'text',
  of_name: 'text',
} as const
export const givenPart = { ...givenConsumer, of_view: 'text', of_space: 'text', of_epoch: 'text' } as const

/** The columns of the tables, and the same of rows that are given. */
export const consumer = 'tenant, feed, key_id, name'
export const part = `${consumer}, view, space, epoch`
export const ofConsumer = Object.keys(givenConsumer).join(', ')
export const ofPart = Object.keys(givenPart).join(', ')

export interface ConsumerRow {
  readonly tenant: string
  readonly feed: number
  readonly key_id: string
  readonly name: string
}

export function placeOf({ key, keyId, name }: ConsumerName) {
  return { of_tenant: key.tenantId, of_feed: feedNumbers[key.feed], of_key: keyId, of_name: name }
}

export function placeOfPart(reading: ConsumerName & ReadPart) {
  const { view, space, epoch } = reading
  return { ...placeOf(reading), of_view: view, of_space: space, of_epoch: epoch }
}

export function textOf(place: object): string {
  return JSON.stringify(Object.values(place))
}

export function consumerOf({ tenant, feed, key_id: keyId, name }: ConsumerRow): ConsumerName {
  return { key: { tenantId: tenant, feed: feedOfNumber(feed, 'consumer') }, keyId, name }
}

/** One text for each consumer of all feeds. */
export function consumerText({ key, keyId, name }: ConsumerName): string {
  return `${feedName(key)} ${keyId} ${name}`
}
