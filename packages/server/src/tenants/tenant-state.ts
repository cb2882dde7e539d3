/**
 * The state of a tenant: the one place where suspending, deleting and leaving meet (PROTOCOL §5.10, D7). Whether its feeds are closed is decided
 * with each change (events/feed.ts).
 */
import type { FoundKey } from '../keys/key.ts'

/**
 * - `open`: its keys work
 * - `leaving`: nothing is published for it any more, and it can be read
 * - `readingEnded`: it has left, and its keys are refused
 * - `suspended`, `deleting`: its keys are refused
 */
export type TenantState = 'open' | 'leaving' | 'readingEnded' | 'suspended' | 'deleting'

/** What is stored about a tenant. */
export interface TenantFacts {
  readonly suspended: boolean
  readonly deleting?: true | undefined
  /** Milliseconds since 1970; `undefined`: it is not leaving. */
  readonly readingEndsMs: number | undefined
}

/** The reason that an operator gave comes before those that time brings. */
export function tenantStateOf(
  { suspended, deleting, readingEndsMs }: TenantFacts,
  nowMs: number,
): TenantState {
  if (suspended) return 'suspended'
  if (readingEndsMs !== undefined && readingEndsMs <= nowMs) return 'readingEnded'
  if (deleting === true) return 'deleting'
  return readingEndsMs === undefined ? 'open' : 'leaving'
}

/** Whether its keys work. */
export function isAdmitted(state: TenantState): boolean {
  return state === 'open' || state === 'leaving'
}

/** Whether a key works for a tenant of its grants. A tenant that is being deleted is among the suspended ones. */
export function admissionOf(
  { suspendedTenantIds, leaving }: Pick<FoundKey, 'suspendedTenantIds' | 'leaving'>,
  nowMs: number,
): (tenantId: string) => boolean {
  const suspended = new Set(suspendedTenantIds)
  const ends = new Map(leaving.map(({ tenantId, readingEndsMs }) => [tenantId, readingEndsMs]))
  return (tenantId) =>
    isAdmitted(
      tenantStateOf({ suspended: suspended.has(tenantId), readingEndsMs: ends.get(tenantId) }, nowMs),
    )
}
