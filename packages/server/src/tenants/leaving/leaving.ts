/** The port's part for leaving tenants (PROTOCOL §5.10): nothing is published for them any more, and reading ends later. */
import type { Actor } from '../../audit/actor.ts'

/** Milliseconds since 1970. */
export interface Leaving {
  readonly tenantId: string
  /** Since when nothing is accepted for the tenant. */
  readonly sinceMs: number
  /** From then on its keys are refused. */
  readonly readingEndsMs: number
  /** When the last of its properties was found to be removed; `undefined`: they are still being removed. */
  readonly unpublishedMs: number | undefined
}

export type LeavingRequest = Pick<Leaving, 'tenantId' | 'sinceMs' | 'readingEndsMs'>

export interface LeavingStore {
  /** A tenant that is already leaving keeps the earlier time, and gets the new end of reading. */
  begin(request: LeavingRequest, actor: Actor): Promise<'done' | 'unknownTenant'>
  /** The tenant stays after all. Removed properties stay removed until they are published again. */
  end(tenantId: string, actor: Actor): Promise<'done' | 'unknownTenant'>
  /** All leaving tenants, in no order. */
  list(): Promise<readonly Leaving[]>
  /** Those of the given tenants that are leaving, in no order. */
  of(tenantIds: readonly string[]): Promise<readonly Leaving[]>
  /**
   * Records that none of its properties is published any more. Has no effect if the tenant has not been leaving since then, or this is
   * known.
   */
  noteUnpublished(
    leaving: Pick<Leaving, 'tenantId' | 'sinceMs'>,
    unpublishedMs: number,
    actor: Actor,
  ): Promise<void>
}
