import { compareCopy } from './compare.ts'
import type { CompareOptions, Comparison } from './compare.ts'
import { connectionOf } from './connection.ts'
import type { CallOptions, ClientOptions } from './connection.ts'
import { countDuties } from './duties.ts'
import type { DutyReport } from './duties.ts'
import { acknowledge, getDelivery, getTerms, listConsumers, report } from './consumers.ts'
import type { FeedConsumers, TermsOptions } from './consumers.ts'
import {
  addHold,
  countErased,
  endHold,
  endRestriction,
  erase,
  getErasure,
  getRestriction,
  listErasures,
  listHolds,
  listRestrictions,
  restrictContact,
} from './privacy.ts'
import type { ErasureRequest, HoldRequest, RestrictionRequest } from './privacy.ts'
import { getEvent, getHeads, getHistory, getMovedHeads, getSubject, requestRun } from './reading/get.ts'
import type { MovedHeadsOptions, RunQuery } from './reading/get.ts'
import { list } from './reading/list.ts'
import type { EventList, ListQuery } from './reading/list.ts'
import { follow } from './live/follow.ts'
import { byPages } from './live/page-runs.ts'
import { followMany } from './live/follow-many.ts'
import type { EventFollower, FollowedEvent, FollowManyQuery, FollowQuery } from './live/follow-options.ts'
import { publish, publishText } from './publish.ts'
import type { Publication, PublishOptions, PublishTextOptions } from './publish.ts'
import type { AppliedPosition } from './sync/acknowledgement-state.ts'
import type { SyncOptions, SyncResult } from './sync/options.ts'
import { sync } from './sync/sync.ts'
import { feedPaths } from './wire.ts'
import type {
  ConsumerResult,
  Erasure,
  ErasureCount,
  EventRun,
  FeedEvent,
  FeedHead,
  FeedName,
  Heads,
  Hold,
  PropertyConsumers,
  PropertyTerms,
  PublishReceipt,
  Restriction,
  ResultsReceipt,
} from './wire.ts'

/** One feed of one service, read and published to with one key. */
export interface Client<F extends FeedName = 'property'> {
  /** The contract's list: `await` it for a page, `for await` over it for all events or over its `pages()`. */
  list(query?: ListQuery): EventList
  /** The event with this id; `undefined` if the feed has none. */
  get(eventId: string, options?: CallOptions): Promise<FeedEvent | undefined>
  /**
   * The events of the feed as they come: `for await (const event of client.follow())`, in order, each once. It reconnects by itself.
   * `event.checkpoint` is the position to continue from. It takes from the network only what the loop takes, and leaving the loop closes the
   * connection. For a copy use `sync`.
   */
  follow(query?: FollowQuery): EventFollower
  /**
   * The same for all tenants of a key, over one waiting request. Events of one tenant come in order; `event.tenantId` names the tenant.
   * Needs PROTOCOL §11.
   */
  followMany(query?: FollowManyQuery): AsyncIterable<FollowedEvent>
  /** Keeps a copy in step with the feed. */
  sync(options: SyncOptions<F>): Promise<SyncResult>
  /** Finds out where a copy differs from its feed, in a few requests and without reading an event. Needs PROTOCOL §14. */
  compare(options: CompareOptions): Promise<Comparison>
  /**
   * Publishes events in batches; repeats within the call publish nothing twice. The compiler checks the known members of payloads, and
   * lets others pass.
   */
  publish(
    publications: Publication<F> | readonly Publication<F>[],
    options?: PublishOptions,
  ): Promise<PublishReceipt>
  /**
   * Publishes one request of NDJSON as it is written, which preserves digits and members that JavaScript would change. Give each event an
   * id, so that nothing is published twice. A service accepts at most 1,000 events and 16 MiB.
   */
  publishText(ndjson: string, options?: PublishTextOptions): Promise<PublishReceipt>
  /** Reports what became of properties on your site, in requests of 1,000. Needs PROTOCOL §14, as the next methods do. */
  report(results: readonly ConsumerResult[], options?: CallOptions): Promise<ResultsReceipt>
  /** Reports that everything up to a number has been applied, in one attempt. `sync` does this by itself. */
  acknowledge(applied: AppliedPosition, options?: CallOptions): Promise<void>
  /** Who has seen the latest event of a property, with a sentence for each; `undefined` if the feed has none. */
  delivery(agentRef: string, options?: CallOptions): Promise<PropertyConsumers | undefined>
  /** Which properties that are shown now do not fit a duty by law; as many requests as they have 20,000. Needs PROTOCOL §4.13. */
  duties(options?: CallOptions): Promise<DutyReport>
  /** On which terms a property was advertised at a moment, and where; `undefined` if the feed has no event of it. */
  terms(agentRef: string, options?: TermsOptions): Promise<PropertyTerms | undefined>
  /**
   * The publisher of the feed, and its consumers with what each lacks. Needs a key that inspects its tenant, or an operator's key and
   * `tenant`.
   */
  consumers(options?: CallOptions): Promise<FeedConsumers>
  /** The latest event of a property or contact; `undefined` if the feed has none. Needs PROTOCOL §11. */
  subject(subjectId: string, options?: CallOptions): Promise<FeedEvent | undefined>
  /** All events of a property or contact, oldest first. Needs PROTOCOL §11. */
  history(subjectId: string, options?: CallOptions): AsyncIterable<FeedEvent>
  /** The next events after a number, superseded ones included. Needs PROTOCOL §11. */
  after(query: RunQuery, options?: CallOptions): Promise<EventRun>
  /** The heads of the feeds that the key can read. Needs PROTOCOL §11. */
  heads(options?: CallOptions): Promise<readonly FeedHead[]>
  /**
   * The heads of the feeds that have changed since the `next` of an earlier answer; without one, all heads. For a key of many tenants:
   * read the feeds that it names, each with a client that has its `tenant`. Needs PROTOCOL §11.
   */
  movedHeads(since?: string, options?: MovedHeadsOptions): Promise<Heads>
  /** Removes the payloads of a property, a contact or one event from the feed. Needs a key with the feed's erase scope. */
  erase(request: ErasureRequest, options?: CallOptions): Promise<Erasure>
  /** How many events `erase` would reduce. */
  countErased(request: ErasureRequest, options?: CallOptions): Promise<ErasureCount>
  /** The present receipt; `undefined` if there is none that the key may see. */
  erasure(erasureId: string, options?: CallOptions): Promise<Erasure | undefined>
  /** All receipts that the key may see, the oldest first. */
  erasures(options?: CallOptions): AsyncIterable<Erasure>
  /** Protects a property or contact from erasure until the end of a day. Needs a key with the feed's erase scope. */
  addHold(request: HoldRequest, options?: CallOptions): Promise<Hold>
  /** Ends a hold; `undefined` if there is none that the key may see. */
  endHold(holdId: string, options?: CallOptions): Promise<Hold | undefined>
  /** All holds that the key may see, the oldest first. */
  holds(options?: CallOptions): AsyncIterable<Hold>
  /** Keeps a contact but shows it to nobody. Needs a key with the scope `contact:erase`, as the next methods do. */
  restrict(request: RestrictionRequest, options?: CallOptions): Promise<Restriction>
  /** Shows the contact again; `undefined` if there is no restriction that the key may see. */
  endRestriction(restrictionId: string, options?: CallOptions): Promise<Restriction | undefined>
  /** The present state of a restriction; `undefined` if there is none that the key may see. */
  restriction(restrictionId: string, options?: CallOptions): Promise<Restriction | undefined>
  /** All restrictions, the oldest first. */
  restrictions(options?: CallOptions): AsyncIterable<Restriction>
}

/** Throws `InvalidOptionError` for an unusable option. Sends nothing. */
export function createClient<F extends FeedName = 'property'>(
  options: ClientOptions & { readonly feed?: F },
): Client<F> {
  const connection = connectionOf(options)
  return {
    list: (query) => list(connection, query),
    get: (eventId, call) => getEvent(connection, eventId, call),
    follow: (query) => follow(connection, query, byPages),
    followMany: (query) => followMany(connection, query),
    sync: (syncOptions) => sync(connection, syncOptions),
    compare: (compareOptions) => compareCopy(connection, compareOptions),
    publish: (publications, publishOptions) => publish(connection, publications, publishOptions),
    publishText: (ndjson, publishOptions) => publishText(connection, ndjson, publishOptions),
    report: (results, call) => report(connection, results, call),
    acknowledge: (applied, call) => acknowledge(connection, applied, call),
    delivery: (agentRef, call) => getDelivery(connection, agentRef, call),
    duties: (call) => countDuties(connection, call),
    terms: (agentRef, termsOptions) => getTerms(connection, agentRef, termsOptions),
    consumers: (call) => listConsumers(connection, call),
    subject: (subjectId, call) => getSubject(connection, subjectId, call),
    history: (subjectId, call) => getHistory(connection, subjectId, call),
    after: (query, call) => requestRun(connection, feedPaths[connection.feed].events, query, call?.signal),
    heads: (call) => getHeads(connection, call),
    movedHeads: (since, call) => getMovedHeads(connection, since, call),
    erase: (request, call) => erase(connection, request, call),
    countErased: (request, call) => countErased(connection, request, call),
    erasure: (erasureId, call) => getErasure(connection, erasureId, call),
    erasures: (call) => listErasures(connection, call),
    addHold: (request, call) => addHold(connection, request, call),
    endHold: (holdId, call) => endHold(connection, holdId, call),
    holds: (call) => listHolds(connection, call),
    restrict: (request, call) => restrictContact(connection, request, call),
    endRestriction: (restrictionId, call) => endRestriction(connection, restrictionId, call),
    restriction: (restrictionId, call) => getRestriction(connection, restrictionId, call),
    restrictions: (call) => listRestrictions(connection, call),
  }
}
