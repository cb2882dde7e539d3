/** What the functions `append_events` and `append_event` are given beside their plan, and what they answer. */
import { formatTicks } from '@property-events/protocol'
import { feedName } from '../../feed-key.ts'
import type { ColumnTable, ColumnTexts, ParameterTable } from '../../../sql/postgres/function-call.ts'
import type { PlanningContext } from './make-plan.ts'
import type { FeedPlan, Stamped } from './plan-commit.ts'

export type AppendAnswer =
  | { readonly kind: 'appended'; readonly feeds: ReadonlyMap<string, Stamped> }
  /** Something the plan was made from has changed. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'epochRequired' }
  /** The cluster's history is not the one in which numbers were last given (D13). */
  | { readonly kind: 'unvouched' }

/** Lists of numbers come as texts such as `{1,2,3}`: node-postgres would read each of them digit by digit. */
export const answerColumns = {
  status: 'status',
  /** For each feed, its last position before the call. */
  positions: 'positions::text',
  /** For each feed, the offset of its numbers from its positions. */
  offsets: 'offsets::text',
  /** For each row, its time in ticks. */
  created: 'created::text',
} as const satisfies ColumnTable

export type AnswerRow = ColumnTexts<typeof answerColumns>

/** `feeds` as they were sent. */
export function readAnswer(row: AnswerRow, feeds: readonly FeedPlan[]): AppendAnswer {
  const { status } = row
  if (status === 'stale' || status === 'epochRequired' || status === 'unvouched') return { kind: status }
  if (status !== 'appended') throw new Error(`an append answered ${status}`)
  const [positions, offsets, created] = [listOf(row.positions), listOf(row.offsets), listOf(row.created)]
  const answer = new Map<string, Stamped>()
  let rowNo = 0
  for (const [index, { reading, rows }] of feeds.entries()) {
    const [offset, before] = [Number(offsets[index]), Number(positions[index])]
    const stored = rows.map((_, nth) => {
      const createdDate = formatTicks(BigInt(created[rowNo + nth] ?? 0))
      return { sequenceNumber: offset + before + nth + 1, createdDate }
    })
    rowNo += rows.length
    const { key } = reading
    answer.set(feedName(key), { key, reading, lastPosition: before + rows.length, offset, stored })
  }
  return { kind: 'appended', feeds: answer }
}

function listOf(text: string): readonly string[] {
  return text.slice(1, -1).split(',')
}

export type CallContext = Pick<PlanningContext, 'now' | 'clockToleranceTicks'>

export const contextParameters: ParameterTable<{ readonly context: CallContext }> = {
  given_now: { type: 'bigint', value: ({ context }) => context.now() ?? null },
  tolerance: { type: 'bigint', value: ({ context }) => context.clockToleranceTicks ?? null },
}
