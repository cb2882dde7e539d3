/** The answers of administration, as far as the console reads them. A test compares the names with openapi.json. */
import type { EventPage, EventRun, FeedEvent, FeedHead, Heads } from '@property-events/client'
import type { FeedName } from '../base.ts'

export type { EventPage, EventRun, FeedEvent, FeedHead, Heads }

/** A list that continues with `after` = `next`. */
export interface ListOf<T> {
  readonly items: readonly T[]
  readonly next: string | null
}

export interface Grant {
  readonly tenantId: string
  readonly scopes: readonly string[]
  readonly branches?: readonly string[]
  readonly contact?: { readonly roles?: readonly string[]; readonly fields?: readonly string[] }
}

export interface Key {
  readonly keyId: string
  readonly label: string
  readonly operator: boolean
  readonly scopes: readonly string[]
  readonly grants: readonly Grant[]
  readonly networks: readonly string[]
  readonly rate: { readonly perSecond: number; readonly burst: number } | null
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly lastUsedAt: string | null
  readonly replaces: string | null
}

export interface Tenant {
  readonly tenantId: string
  readonly name: string
  readonly reference: string | null
  readonly suspended: boolean
  readonly leaving: { readonly since: string; readonly readingEndsAt: string } | null
  readonly deletion: { readonly id: string; readonly state: string } | null
  readonly createdAt: string
  /** In a list that is ordered by it. */
  readonly lastPublishedAt?: string | null
}

export interface FeedState {
  readonly feed: FeedName
  readonly sequenceNumber: number
  readonly epoch: string
  readonly revision: number
  readonly counts: Readonly<Record<string, number>>
  readonly live: number | null
  readonly lastPublishedAt: string | null
}

/** Something that needs attention. `code` may be one that this page does not know (PROTOCOL §9). */
export interface ServiceFault {
  readonly code: string
  readonly tenantId: string | null
  readonly tenantName: string | null
  readonly feed: FeedName | null
  readonly keyId: string | null
  readonly label: string | null
  readonly consumer: string | null
  readonly since: string
  readonly endsAt: string | null
  readonly reason: string | null
  readonly refusals: number | null
}

/** How a tenant is doing, judged by its property feed. */
export interface TenantFacts {
  readonly tenantId: string
  readonly sequenceNumber: number
  readonly live: number | null
  /** By hour; the present one comes last. */
  readonly published: readonly number[]
  readonly furthest: {
    readonly keyId: string
    readonly label: string
    readonly name: string
    readonly lagEvents: number
    readonly lagSeconds: number
  } | null
  readonly refused: number
}

export interface Consumer {
  readonly keyId: string
  readonly name: string
  readonly label: string
  readonly ended: string | null
  readonly lastAskedAt: string | null
  readonly lastStatus: number | null
  /** `list`, `stream`, `snapshot`, … */
  readonly lastRoute: string | null
  readonly acknowledged: { readonly sequenceNumber: number; readonly at: string } | null
  readonly refused: { readonly code: string; readonly since: string | null; readonly count: number } | null
  readonly views: readonly ConsumerView[]
}

export interface ConsumerView {
  readonly view: string
  readonly through: number
  readonly lagEvents: number
  readonly lagSeconds: number
}

export interface FoundProperty {
  readonly agentRef: string
  readonly live: boolean
  readonly address: string | null
  readonly postcode: string | null
  readonly reference: string | null
  readonly sequenceNumber: number
}

/** A search result, in whatever tenant. */
export interface FoundThing {
  readonly kind: string
  readonly tenantId: string
  readonly tenantName: string
  readonly feed: FeedName
  readonly agentRef: string | null
  readonly contactRef: string | null
  readonly live: boolean | null
  readonly address: string | null
  readonly postcode: string | null
  readonly reference: string | null
  readonly sequenceNumber: number | null
  readonly eventTypeShortCode: string | null
}

/** How far a search has got. */
export interface Searched {
  readonly tenants: number
  readonly of: number
  readonly properties: number
}

export interface Health {
  readonly status: 'ok' | 'warn' | 'fail'
  readonly items: readonly Finding[]
}

export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly detail: string
  readonly remedy: string | null
}

/** One fault of a request. `pointer`: its place in the body (RFC 6901). */
export interface ProblemError {
  readonly parameter?: string
  readonly pointer?: string
  readonly code: string
  readonly message: string
}

/** RFC 9457, as PROTOCOL §7 has it. */
export interface ProblemDocument {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly requestId: string
  readonly errors?: readonly ProblemError[]
}
