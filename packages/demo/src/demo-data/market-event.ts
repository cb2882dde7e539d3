import type { ContactPayload, PropertyPayload } from '@property-events/protocol'

/** Why a property left the market: RTDF's removal reasons that the demo uses. */
export const removalReasons = {
  soldByUs: 7,
  soldByAnotherAgent: 8,
  withdrawn: 9,
  lostInstruction: 10,
  letByUs: 12,
} as const

export type RemovalReason = (typeof removalReasons)[keyof typeof removalReasons]

/** What a publisher sends for one property: its state now, or a removal (D26). The body of `POST /v1/property-events`. */
export type PropertyBody =
  | { readonly payload: PropertyPayload }
  | { readonly remove: { readonly agentRef: string; readonly reason: RemovalReason } }

/** What a publisher sends for one contact. The body of `POST /v1/contact-events`. */
export interface ContactBody {
  readonly payload: ContactPayload
}

/** A change that an agency publishes: `body` is ready to be sent. */
export type MarketChange =
  | { readonly tenant: number; readonly feed: 'property'; readonly body: PropertyBody }
  | { readonly tenant: number; readonly feed: 'contact'; readonly body: ContactBody }

/**
 * A change with the time it wishes for (D25): UTC in the form of `createdDate`, 27 characters, strictly rising over
 * all tenants and feeds. `tenant` is an index into `marketTenants`.
 */
export type MarketEvent = MarketChange & { readonly at: string }
