/** The port's part for tenants that leave (PROTOCOL §5.10): nothing is published for them any more, and reading ends later. */
import type { Actor } from './audit-store.ts'

/** Milliseconds since 1970. */
export interface Leaving {
  readonly tenantId: string
  /** Since when nothing is taken for it. */
  readonly sinceMs: number
  /** From then on its keys are refused. */
  readonly readingEndsMs: number
  /** When the last of its properties was found to be removed; `undefined`: they are being removed. */
  readonly unpublishedMs: number | undefined
}

export type LeavingRequest = Pick<Leaving, 'tenantId' | 'sinceMs' | 'readingEndsMs'>

export interface LeavingStore {
  /** A tenant that is leaving already keeps the time since when, and gets the other end of reading. */
  begin(request: LeavingRequest, actor: Actor): Promise<'done' | 'unknownTenant'>
  /** The tenant stays after all. Properties that were removed stay so until they are published again. */
  end(tenantId: string, actor: Actor): Promise<'done' | 'unknownTenant'>
  /** All of them, in no order. */
  list(): Promise<readonly Leaving[]>
  /** Those of the given tenants that leave, in no order. */
  of(tenantIds: readonly string[]): Promise<readonly Leaving[]>
  /** None of its properties is published any more. Nothing where it is not leaving since then, or this is known. */
  noteUnpublished(
    leaving: Pick<Leaving, 'tenantId' | 'sinceMs'>,
    unpublishedMs: number,
    actor: Actor,
  ): Promise<void>
}
