/** The options of `follow` and `followMany`, and what they hand out. */
import type { PropertyEventsError } from '../errors.ts'
import type { ResyncReason } from '../sync/plan.ts'
import type { FeedEvent } from '../wire.ts'
import type { Transport } from './ways.ts'

/**
 * A place in a feed: everything up to the number `after` has been handed out. Plain JSON; `follow(place)` goes on there.
 */
export interface FollowPlace {
  readonly after: number
  /** The history that the number belongs to; absent where the server tells of none. */
  readonly epoch?: string
}

/** An event, and the place after it. */
export interface FollowedEvent extends FeedEvent {
  /** Keep it when you have done with the event: there `follow` goes on. */
  readonly checkpoint: FollowPlace
}

/** How far a reader is. */
export interface FollowMark {
  /** Everything up to here has been handed out, events of other categories and types included. */
  readonly checkpoint: FollowPlace
  /** The feed's last number. */
  readonly head: number
  /** When it rises, payloads of earlier events have been reduced (PROTOCOL §11.2): read which, if you keep earlier events. */
  readonly revision: number
}

interface LiveChoices {
  /** `salesproperty`, `lettingsproperty`; the whole feed by default. */
  readonly apiEventType?: string | undefined
  /** Short codes, such as `['PropertyPublished']`: only these events, and every removal. */
  readonly types?: readonly string[] | undefined
  /**
   * Told of a failure that will be tried again. The first connection is different: what it fails for ends the loop, after the attempts
   * of the client.
   */
  readonly onTrouble?: ((error: PropertyEventsError) => void) | undefined
  /** Ends the loop, without an error. */
  readonly signal?: AbortSignal | undefined
}

export interface FollowQuery extends LiveChoices {
  /** Events with a greater number; 0 for the whole feed. `head`, the default: those that come from now on. */
  readonly after?: number | 'head' | undefined
  /** The epoch of the number. Leave it out only where you have none. */
  readonly epoch?: string | undefined
  /**
   * `auto`, the default: a stream; where none comes through, for ten minutes requests that wait; where the service has none, polls.
   */
  readonly transport?: Transport | 'auto' | undefined
  /**
   * Called at the beginning, whenever everything that came has been handed out, and about every half minute while nothing happens. What
   * it throws ends the loop.
   */
  readonly onMark?: ((mark: FollowMark) => void | Promise<void>) | undefined
  /**
   * The service was restored, or another one answers: numbers mean other events now. Drop what was made of the feed; all its events
   * follow, or, of a loop that began at the head, what comes from now on. Without it the loop ends with a `ConflictError` (`epoch_changed`,
   * `cursor_beyond_head`).
   */
  readonly onReset?: ((reason: ResyncReason) => void | Promise<void>) | undefined
}

/** The events of a feed as they come. Each `for await` over it goes on where the one before was left. */
export interface EventFollower extends AsyncIterable<FollowedEvent> {
  /** After the last event that was handed out, or later where nothing came after it; `undefined` before the first answer. */
  readonly checkpoint: FollowPlace | undefined
  /** As the last mark said. */
  readonly head: number | undefined
  readonly revision: number | undefined
}

/** A mark of one tenant. */
export interface TenantMark extends FollowMark {
  readonly tenantId: string
}

export interface FollowManyQuery extends LiveChoices {
  /** Where each tenant is: a `Map`, or `Object.entries`, of tenant ids and the checkpoints of their events. */
  readonly places?: Iterable<readonly [tenantId: string, place: FollowPlace]> | undefined
  /** For tenants without a place: `head`, the default, or 0 for all their events. Those that are added later always begin with all. */
  readonly after?: 0 | 'head' | undefined
  /** Called for each tenant that was read, when it has been read up to its head. */
  readonly onMark?: ((mark: TenantMark) => void | Promise<void>) | undefined
  /** As in `follow`, of one tenant: all its events follow. Without it the loop ends. */
  readonly onReset?: ((reason: ResyncReason, tenantId: string) => void | Promise<void>) | undefined
  /** With the tenant where the failure is one tenant's alone. */
  readonly onTrouble?: ((error: PropertyEventsError, tenantId?: string) => void) | undefined
}
