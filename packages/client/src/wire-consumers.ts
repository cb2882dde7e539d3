/** Who has seen what, on the wire (PROTOCOL §14). */
import type { FeedName } from './wire.ts'

/** The path at which a consumer reports what it has done. */
export const consumersPaths: Readonly<Record<FeedName, string>> = {
  property: '/v1/property-consumers',
  contact: '/v1/contact-consumers',
}

/** What became of a property at a site (PROTOCOL §14). */
export interface ConsumerResult {
  readonly agentRef: string
  /** The number of the event that the result is about. */
  readonly sequenceNumber: number
  /** `live`: the site shows this version, or has taken a removed property down. */
  readonly outcome: 'live' | 'held' | 'refused'
  /** Why, in a word of your own: 1 to 64 letters, digits, `.`, `_` and `-`. */
  readonly code?: string | undefined
  /** The same in at most 500 characters. It must name no person. */
  readonly message?: string | undefined
  /** The address at which the site shows it. */
  readonly url?: string | undefined
}

export interface ResultsReceipt {
  /** How many results are about properties of the feed. */
  readonly stored: number
  /** References that the feed does not have. */
  readonly unknown: readonly string[]
}

/** Who has seen the latest event of a property. */
export interface PropertyConsumers {
  readonly agentRef: string
  readonly event: {
    readonly sequenceNumber: number
    readonly eventTypeShortCode: string
    /** ISO 8601 with `Z`. */
    readonly publishedAt: string
    readonly category: string | null
  }
  readonly feed: {
    readonly sequenceNumber: number
    readonly epoch: string
    /** When anything was last published. */
    readonly lastPublishedAt: string | null
    /** Its publisher has been silent for longer than is expected since then; null: it is not. */
    readonly silentSince: string | null
  }
  readonly consumers: readonly PropertyConsumer[]
}

export interface PropertyConsumer {
  readonly keyId: string
  /** `default`: the key itself. */
  readonly name: string
  readonly label: string
  /** `live`, `held`, `refused`, `applied`, `sent`, `pending`, …: further ones may come. */
  readonly state: string
  /** A sentence for people that says all of this. */
  readonly sentence: string
}

/** The publisher of a feed, and its consumers. */
export interface FeedConsumers {
  readonly publisher: FeedPublisher
  readonly consumers: readonly FeedConsumer[]
}

/** Whether a publisher or consumer has been silent for longer than expected. Times are ISO 8601 with `Z`. */
export interface FeedSilence {
  /** How long it may be silent; null: no interval is expected, or not yet. */
  readonly expectedSeconds: number | null
  /** `set`, `learned`, `learning`, `off`: further ones may come. Null: the key opens other tenants, so only operators see it. */
  readonly expectation: string | null
  /** Null: it is not silent. */
  readonly silentSince: string | null
}

export interface FeedPublisher extends FeedSilence {
  /** When a publication was last accepted, to within some minutes. */
  readonly lastHeardAt: string | null
}

/** A consumer of a feed: a key, or a key and a name. Times are ISO 8601 with `Z`. */
export interface FeedConsumer extends FeedSilence {
  readonly keyId: string
  /** `default`: the key itself. */
  readonly name: string
  readonly label: string
  /** Why the key no longer works; null if it works. */
  readonly ended: string | null
  /** Null: never. */
  readonly lastAskedAt: string | null
  readonly lastStatus: number | null
  readonly lastRoute: string | null
  readonly lastNothingNewAt: string | null
  /** It asks for the first page of the list alone, although there is more: it probably stops at an event type that it does not know. */
  readonly stoppedAfter: number | null
  readonly acknowledged: { readonly sequenceNumber: number; readonly at: string } | null
  /** Its last requests were refused. */
  readonly refused: { readonly code: string; readonly since: string; readonly count: number } | null
  readonly views: readonly {
    readonly view: string
    /** Everything of the view up to this number was sent. */
    readonly through: number
    readonly lagEvents: number
    readonly lagSeconds: number
  }[]
}
