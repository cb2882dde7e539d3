/** The options of `follow` and `followMany`, and what they yield. */
import type { PropertyEventsError } from '../errors.ts'
import type { ResyncReason } from '../sync/plan.ts'
import type { FeedEvent } from '../wire.ts'
import type { Transport } from './transports.ts'

/** A position in a feed: everything up to the number `after` has been handed out. Plain JSON; `follow(position)` continues there. */
export interface FollowPosition {
  readonly after: number
  /** The history that the number belongs to; absent if the server reports none. */
  readonly epoch?: string
}

/** An event, and the position after it. */
export interface FollowedEvent extends FeedEvent {
  /** Keep it when you have finished with the event: `follow` continues there. */
  readonly checkpoint: FollowPosition
}

/** How far a reader is. */
export interface FollowMark {
  /** Everything up to here has been handed out, events of other categories and types included. */
  readonly checkpoint: FollowPosition
  /** The feed's last number. */
  readonly head: number
  /** When it rises, payloads of earlier events have been reduced (PROTOCOL §11.2): if you keep earlier events, read which. */
  readonly revision: number
}

interface LiveChoices {
  /** `salesproperty`, `lettingsproperty`; the whole feed by default. */
  readonly apiEventType?: string | undefined
  /** Short codes, such as `['PropertyPublished']`: only these events, and every removal. */
  readonly types?: readonly string[] | undefined
  /** Called with a failure that will be retried. If the first connection fails, the loop ends instead, after the client's attempts. */
  readonly onTrouble?: ((error: PropertyEventsError) => void) | undefined
  /** Ends the loop, without an error. */
  readonly signal?: AbortSignal | undefined
}

export interface FollowQuery extends LiveChoices {
  /** Events with a greater number; 0 for the whole feed. `head`, the default: events from now on. */
  readonly after?: number | 'head' | undefined
  /** The epoch of the number. Leave it out only if you have none. */
  readonly epoch?: string | undefined
  /** `auto`, the default: a stream; if none comes through, waiting requests for ten minutes. */
  readonly transport?: Transport | 'auto' | undefined
  /**
   * Called at the beginning, whenever everything that came has been handed out, and about every half minute while nothing happens. What
   * it throws ends the loop.
   */
  readonly onMark?: ((mark: FollowMark) => void | Promise<void>) | undefined
  /**
   * The service was restored, or another one answers, so numbers now mean other events. Drop what you made from the feed; all its events
   * follow or, if the loop began at the head, the events from now on. Without it the loop ends with a `ConflictError` (`epoch_changed`,
   * `cursor_beyond_head`).
   */
  readonly onReset?: ((reason: ResyncReason) => void | Promise<void>) | undefined
}

/** The events of a feed as they come. Each `for await` over it continues where the previous one was left. */
export interface EventFollower extends AsyncIterable<FollowedEvent> {
  /** The position after the last event that was handed out, or later if nothing came after it; `undefined` before the first answer. */
  readonly checkpoint: FollowPosition | undefined
  /** The head in the last mark. */
  readonly head: number | undefined
  readonly revision: number | undefined
}

/** A mark of one tenant. */
export interface TenantMark extends FollowMark {
  readonly tenantId: string
}

export interface FollowManyQuery extends LiveChoices {
  /** The position of each tenant: a `Map`, or `Object.entries`, of tenant ids and the checkpoints of their events. */
  readonly positions?: Iterable<readonly [tenantId: string, position: FollowPosition]> | undefined
  /** For tenants without a position: `head`, the default, or 0 for all their events. Tenants that are added later always begin with all. */
  readonly after?: 0 | 'head' | undefined
  /** Called for each tenant when it has been read up to its head. */
  readonly onMark?: ((mark: TenantMark) => void | Promise<void>) | undefined
  /** As in `follow`, for one tenant: all its events follow. Without it the loop ends. */
  readonly onReset?: ((reason: ResyncReason, tenantId: string) => void | Promise<void>) | undefined
  /** With the tenant, if the failure is one tenant's alone. */
  readonly onTrouble?: ((error: PropertyEventsError, tenantId?: string) => void) | undefined
}
