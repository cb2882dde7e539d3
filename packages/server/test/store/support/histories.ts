/** Random histories of a store, as data: the same one can be played on every engine. */
import * as fc from 'fast-check'
import type { Category, FeedName, ViewName } from '@property-events/protocol'
import type { AppendBatch } from '../../../src/events/append/append-batch.ts'
import { batch, draft, removal, uuid } from './drafts.ts'
import { ticks } from './test-clock.ts'

/** Few names, so that repeats, clashes and several events of one subject come often. */
export const subjects = ['p', 'q', 'r', 's']
const ids = ['1', '2', '3', '4', '5', '6']
const texts = ['a', 'b', 'c']
const branches = ['north', 'south']
/** Sets that keys are limited to. */
export const branchSets: readonly (readonly string[])[] = [['north'], ['north', 'south'], ['south', 'west']]
const categories: readonly Category[] = ['sales', 'lettings']
const types: Readonly<Record<FeedName, readonly string[]>> = {
  property: ['PropertyPublished', 'PropertyUpdated', 'PropertyUnpublished'],
  contact: ['ContactCreated', 'ContactUpdated', 'ContactErased'],
}

/** One event of a request, before it is made for a tenant. */
export interface EventWords {
  readonly subject: string
  readonly removed: boolean
  readonly id: string | undefined
  readonly text: string
  readonly published: boolean | undefined
  readonly branch: string | undefined
  readonly implied: Category | undefined
  readonly category: Category | undefined
  readonly type: string | undefined
  /** Minutes after the first of January 2020. */
  readonly wished: number | undefined
}

export interface RequestWords {
  readonly tenant: 0 | 1
  readonly feed: FeedName
  readonly unchanged: AppendBatch['unchanged']
  readonly events: readonly EventWords[]
}

/** What is done with the log alone. */
export type LogAction =
  /** Requests sent without waiting for each other, in groups that are committed together. */
  | { readonly kind: 'append'; readonly groups: readonly (readonly RequestWords[])[] }
  | { readonly kind: 'preview'; readonly request: RequestWords }
  | { readonly kind: 'clock'; readonly seconds: number }
  | { readonly kind: 'window'; readonly view: ViewName; readonly fromSeconds: number | undefined }
  | { readonly kind: 'epoch'; readonly continueAfter: number }

export type Action =
  | LogAction
  /** A key is limited to a set of branches of the first tenant, or all of them are revoked; then so many steps for the views of the sets. */
  | {
      readonly kind: 'branches'
      readonly set: number
      readonly granted: boolean
      readonly steps: number
      readonly limit: number
    }
  /** Of a subject, or of the nth event of the feed; then so many steps of it, and of those that were begun before. */
  | {
      readonly kind: 'erase'
      readonly feed: FeedName
      readonly target: string | number
      readonly steps: number
      readonly limit: number
    }
  /** On hold for so many seconds; or the nth hold is ended. */
  | { readonly kind: 'hold'; readonly feed: FeedName; readonly subject: string; readonly seconds: number }
  | { readonly kind: 'endHold'; readonly nth: number }
  /** A contact is restricted, or the nth restriction lifted; then so many steps of those that are under way. */
  | {
      readonly kind: 'restrict'
      readonly subject: string | number
      readonly steps: number
      readonly limit: number
    }
  /** Retention of a feed, to its end: of what is older, and was superseded before. */
  | {
      readonly kind: 'thin'
      readonly feed: FeedName
      readonly olderSeconds: number
      readonly supersededSeconds: number
      readonly limit: number
    }

function eventWords(feed: FeedName, options: { readonly plain: boolean }): fc.Arbitrary<EventWords> {
  const { plain } = options
  const rarely = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
  const never = fc.constant(undefined)
  return fc.record({
    subject: fc.constantFrom(...subjects),
    removed: fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
    id: plain ? never : rarely(fc.constantFrom(...ids)),
    text: fc.constantFrom(...texts),
    published: fc.constantFrom(true, true, true, false, undefined),
    branch: fc.constantFrom(undefined, undefined, ...branches),
    implied: rarely(fc.constantFrom(...categories)),
    category: rarely(fc.constantFrom(...categories)),
    type: rarely(fc.constantFrom(...types[feed])),
    wished: plain ? never : fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined, freq: 1 }),
  })
}

export function request(options: { readonly plain: boolean }): fc.Arbitrary<RequestWords> {
  return fc
    .constantFrom<FeedName>(
      ...(options.plain ? (['property'] as const) : (['property', 'property', 'contact'] as const)),
    )
    .chain((feed) =>
      fc.record({
        tenant: fc.constantFrom(...(options.plain ? [0 as const] : [0 as const, 1 as const])),
        feed: fc.constant(feed),
        unchanged: fc.constantFrom(...(options.plain ? (['store'] as const) : (['store', 'skip'] as const))),
        events: fc.array(eventWords(feed, options), { maxLength: 5 }),
      }),
    )
}

/** Histories of the log alone. */
export function logActions(): fc.Arbitrary<readonly LogAction[]> {
  return fc.array(logAction(), { maxLength: 25 })
}

function logAction(): fc.Arbitrary<LogAction> {
  const asked = request({ plain: false })
  const view = fc.constantFrom<ViewName>('all', 'sales', 'lettings')
  const seconds = fc.option(fc.integer({ min: -400, max: 10 }), { nil: undefined })
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .array(fc.array(asked, { maxLength: 3 }), { minLength: 1, maxLength: 3 })
        .map((groups) => ({ kind: 'append' as const, groups })),
    },
    { weight: 1, arbitrary: asked.map((request) => ({ kind: 'preview' as const, request })) },
    {
      weight: 1,
      arbitrary: fc.integer({ min: -400, max: 400 }).map((seconds) => ({ kind: 'clock' as const, seconds })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(view, seconds)
        .map(([view, fromSeconds]) => ({ kind: 'window' as const, view, fromSeconds })),
    },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: 0, max: 200 })
        .map((continueAfter) => ({ kind: 'epoch' as const, continueAfter })),
    },
  )
}

export function actions(): fc.Arbitrary<readonly Action[]> {
  return fc.array(
    fc.oneof(
      { weight: 12, arbitrary: logAction() },
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constant('branches' as const),
          set: fc.integer({ min: 0, max: branchSets.length - 1 }),
          granted: fc.constantFrom(true, true, false),
          steps: fc.integer({ min: 0, max: 6 }),
          limit: fc.integer({ min: 1, max: 8 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('erase' as const),
          feed: fc.constantFrom<FeedName>('property', 'property', 'contact'),
          target: fc.oneof(fc.constantFrom(...subjects), fc.integer({ min: 0, max: 9 })),
          steps: fc.integer({ min: 0, max: 4 }),
          limit: fc.integer({ min: 1, max: 3 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('thin' as const),
          feed: fc.constantFrom<FeedName>('property', 'property', 'contact'),
          olderSeconds: fc.integer({ min: -60, max: 400 }),
          supersededSeconds: fc.integer({ min: -60, max: 60 }),
          limit: fc.integer({ min: 1, max: 5 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('hold' as const),
          feed: fc.constantFrom<FeedName>('property', 'property', 'contact'),
          subject: fc.constantFrom(...subjects),
          seconds: fc.integer({ min: 1, max: 400 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('endHold' as const), nth: fc.integer({ min: 0, max: 2 }) }),
      },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('restrict' as const),
          subject: fc.oneof(fc.constantFrom(...subjects), fc.integer({ min: 0, max: 3 })),
          steps: fc.integer({ min: 0, max: 4 }),
          limit: fc.integer({ min: 1, max: 3 }),
        }),
      },
    ),
    { maxLength: 25 },
  )
}

/** The batch of a request, for the tenants of one run. Made once and played on every engine, so that ids agree. */
export function batchOf(words: RequestWords, tenants: readonly [string, string]): AppendBatch {
  const drafts = words.events.map(({ removed, id, branch, implied, category, type, wished, ...event }) => {
    const named = {
      ...event,
      ...(id === undefined ? {} : { id }),
      ...(branch === undefined ? {} : { branch }),
      ...(implied === undefined ? {} : { implied }),
      ...(category === undefined ? {} : { category }),
      ...(type === undefined ? {} : { type }),
      ...(wished === undefined
        ? {}
        : { requestedCreated: ticks('2020-01-01') + BigInt(wished) * 600_000_000n }),
    }
    return removed ? removal(named) : draft(named)
  })
  const key = { tenantId: tenants[words.tenant], feed: words.feed }
  return batch(drafts, { key, unchanged: words.unchanged })
}

export function subjectId(words: EventWords): string {
  return uuid(words.subject)
}
