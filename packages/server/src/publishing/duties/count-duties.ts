/**
 * How many properties of a tenant that are shown now do not fit a duty by law. Nothing is kept of this: the latest events are read, in steps
 * between which others get their turn, and no longer than one call may take (PROTOCOL §4.13).
 */
import { adviseDuties, duties } from '@property-events/protocol'
import type { Category, Duty } from '@property-events/protocol'
import { parseEventJson } from '../../events/event-json.ts'
import type { EventStore, StoredEvent } from '../../events/event-log.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import { freeEvents, readInSteps } from '../../reading/run.ts'
import { searchLimits } from '../../reading/search/find-properties.ts'
import type { SearchLimits } from '../../reading/search/find-properties.ts'
import { isShown } from '../publication-payload.ts'

/** Where a count goes on: at the latest events of this category after this number. */
export interface DutiesCursor {
  readonly category: Category
  readonly after: number
}

export interface DutiesQuery {
  readonly key: FeedKey & { readonly feed: 'property' }
  /** Only properties that are in these branches now; `undefined`: all. */
  readonly branches: readonly string[] | undefined
  /** `undefined`: from the beginning. */
  readonly from: DutiesCursor | undefined
  /** Milliseconds since 1970: which duties are in force. */
  readonly nowMs: number
}

export interface DutyCount {
  readonly duty: Duty
  readonly properties: number
  /** The first of them: those whose latest event is the oldest, lettings before sales. */
  readonly refs: readonly string[]
}

export interface CountedDuties {
  readonly counts: readonly DutyCount[]
  /** Properties that are shown now, among those that this call has looked at. */
  readonly properties: number
  /** `undefined`: there are no more. */
  readonly next: DutiesCursor | undefined
}

/** Of each duty; a person works through them, and then counts again. */
export const mostRefs = 100

/** The order of the walk. */
const walk = ['lettings', 'sales'] as const satisfies readonly Category[]

export async function countDuties(
  events: Pick<EventStore, 'readAfter'>,
  query: DutiesQuery,
  /** Milliseconds; never set back. */
  clock: () => number,
  limits: SearchLimits = searchLimits,
): Promise<CountedDuties> {
  const { key, from = { category: walk[0], after: 0 } } = query
  const untilMs = clock() + limits.ms
  const tally = createTally(query)
  let { after } = from
  for (const category of walk.slice(walk.indexOf(from.category))) {
    const readNext = (number: number, limit: number) =>
      events.readAfter({ key, view: category, after: number, limit, latestOnly: true })
    for await (const step of readInSteps(after, readNext)) {
      for (const event of step) tally.add(event, category)
      after = step.at(-1)?.sequenceNumber ?? after
      freeEvents(step)
      const isOver = tally.looked() >= limits.properties || clock() >= untilMs
      if (isOver) return { ...tally.result(), next: { category, after } }
    }
    after = 0
  }
  return { ...tally.result(), next: undefined }
}

function createTally({ branches, nowMs }: DutiesQuery) {
  const found = new Map(duties.map(({ code }) => [code, { properties: 0, refs: new Array<string>() }]))
  let [looked, properties] = [0, 0]
  return {
    add(event: StoredEvent, category: Category): void {
      looked += 1
      const { payload: text, eventTypeShortCode } = parseEventJson(Buffer.from(event.json).toString())
      const payload: ShownPayload = JSON.parse(text)
      const { agent_ref: agentRef = '', branch_id: branch, published } = payload
      if (!isShown(published, eventTypeShortCode) || payload.erased === true) return
      if (branches !== undefined && (branch === undefined || !branches.includes(branch))) return
      properties += 1
      const codes = new Set(adviseDuties(payload, { category, nowMs }).map(({ code }) => code))
      for (const [code, count] of found) {
        if (!codes.has(code)) continue
        count.properties += 1
        if (count.refs.length < mostRefs) count.refs.push(agentRef)
      }
    },
    looked: () => looked,
    result: () => ({
      properties,
      counts: duties.map((duty) => ({ duty, ...(found.get(duty.code) ?? { properties: 0, refs: [] }) })),
    }),
  }
}

/** As checked when it was published, or what erasure left of it. */
interface ShownPayload {
  readonly agent_ref?: string
  readonly branch_id?: string
  readonly published?: boolean
  readonly erased?: boolean
}
