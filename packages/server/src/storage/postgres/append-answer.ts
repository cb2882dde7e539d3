/** What `append_events_2` and `append_event_2` answer. */
import { formatTicks } from '@property-events/protocol'
import { feedName } from '../storage.ts'
import type { FeedPlan, Stamped } from './plan-commit.ts'

export type AppendAnswer =
  | { readonly kind: 'appended'; readonly feeds: ReadonlyMap<string, Stamped> }
  /** Something the plan was made from has changed. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'epochRequired' }
  /** The cluster's history is not the one that numbers were last given in (D13). */
  | { readonly kind: 'unvouched' }

/** Lists of numbers come as texts: node-postgres would read each digit by digit. */
export const answerColumns = 'status, positions::text, offsets::text, created::text'

export interface AnswerRow {
  readonly status: AppendAnswer['kind']
  /** Each as `{1,2,3}`. */
  readonly positions: string
  readonly offsets: string
  readonly created: string
}

/** `feeds` as they were sent. */
export function readAnswer(row: AnswerRow, feeds: readonly FeedPlan[]): AppendAnswer {
  if (row.status !== 'appended') return { kind: row.status }
  const [positions, offsets, createds] = [row.positions, row.offsets, row.created].map(itemsOf)
  const answer = new Map<string, Stamped>()
  let rowNo = 0
  for (const [index, { reading, rows }] of feeds.entries()) {
    const [offset, before] = [Number(offsets?.[index]), Number(positions?.[index])]
    const stored = rows.map((_, nth) => {
      const created = BigInt(createds?.[rowNo + nth] ?? 0)
      return { sequenceNumber: offset + before + nth + 1, createdDate: formatTicks(created) }
    })
    rowNo += rows.length
    const { key } = reading
    answer.set(feedName(key), { key, reading, lastPosition: before + rows.length, offset, stored })
  }
  return { kind: 'appended', feeds: answer }
}

function itemsOf(array: string): readonly string[] {
  return array.slice(1, -1).split(',')
}
