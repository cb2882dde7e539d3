/** What both calls of an append are given in addition to their plan. */
import type { Ticks } from '@property-events/protocol'
import type { ParameterTable } from '../../../sql/postgres/function-call.ts'

export interface CallContext {
  /** Replaces the database's clock. For tests. */
  readonly now: Ticks | undefined
  /** No stamp is before this. */
  readonly floor: Ticks | undefined
  readonly clockToleranceTicks: Ticks | undefined
}

export const contextParameters: ParameterTable<{ readonly context: CallContext }> = {
  given_now: { type: 'bigint', value: ({ context }) => context.now ?? null },
  given_floor: { type: 'bigint', value: ({ context }) => context.floor ?? null },
  tolerance: { type: 'bigint', value: ({ context }) => context.clockToleranceTicks ?? null },
}
