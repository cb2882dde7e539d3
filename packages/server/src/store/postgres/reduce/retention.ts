/** Thinning on a database, step by step. */
import { millisecondsOfTicks } from '@property-events/protocol'
import { codeOf } from '../../../sql/storage-errors.ts'
import { reducedEventJson } from '../../../events/append/reduced-event.ts'
import { cutThinStep, nextThinStep, retentionTurnMs } from '../../../privacy/retention/retention.ts'
import type { Thinning, ThinOutcome, ThinSpan } from '../../../privacy/retention/retention.ts'
import { bigints, texts, uuids } from '../../../sql/postgres/array.ts'
import type { Statement } from '../../../sql/postgres/session.ts'
import { readDue, readThinState } from './due-events.ts'
import type { EngineParts } from '../engine-parts.ts'
import { feedNumbers } from '../../../sql/database.ts'

const call: Statement = {
  name: 'retention-thin',
  text: `SELECT thin_events($1, $2, $3, $4, $5, $6, $7, $8, $9::bigint[], $10::uuid[], $11::uuid[], $12::text[], $13,
    ${retentionTurnMs}, $14) AS status`,
}

/** Raised by the function. */
const onHold = 'PE001'

type Parts = Pick<EngineParts, 'database' | 'given' | 'feedStates' | 'changes' | 'watching'>

export function databaseThinning(parts: Parts): Thinning {
  const { database, changes, watching, feedStates } = parts
  const nowMs = (): number | null => {
    const now = parts.given()
    return now === undefined ? null : millisecondsOfTicks(now)
  }
  return {
    async thin(span, limit, nodeId) {
      const outcome = await thin(parts, span, limit, { nodeId, nowMs: nowMs() })
      if (outcome.kind === 'thinned' && outcome.events > 0) {
        feedStates.forget([span.key])
        changes.send([span.key])
        watching.notify(span.key)
      }
      return outcome
    },
    async countDue(span, limit, progress) {
      const state = await readThinState(database, span)
      const step = state && nextThinStep(progress ?? state.progress, state.ends, span, limit)
      if (step === undefined) return undefined
      const { due, to } = cutThinStep(step, await readDue(database, span.key, step, nowMs()))
      return { events: due.length, progress: to }
    },
  }
}

/** Read on this node, reduced here, and written with one call that checks that no other node has changed anything. */
async function thin(
  { database }: Pick<Parts, 'database'>,
  span: ThinSpan,
  limit: number,
  { nodeId, nowMs }: { readonly nodeId: string; readonly nowMs: number | null },
): Promise<ThinOutcome> {
  const { key } = span
  const state = await readThinState(database, span)
  if (state === undefined) return { kind: 'unknownFeed' }
  if (state.refusal !== undefined) return state.refusal
  const step = nextThinStep(state.progress, state.ends, span, limit)
  if (step === undefined) return { kind: 'finished' }
  const { due, to } = cutThinStep(step, await readDue(database, key, step, nowMs))
  const { aged, superseded } = state.progress ?? { aged: 0, superseded: 0 }
  const values = [
    key.tenantId,
    feedNumbers[key.feed],
    aged,
    superseded,
    to.aged,
    to.superseded,
    to.held?.from ?? null,
    to.held?.before ?? null,
    bigints(due.map(({ position }) => position)),
    uuids(due.map(({ id }) => id)),
    uuids([...new Set(due.map(({ subject }) => subject))]),
    texts(due.map(({ subject, json }) => reducedEventJson('thinned', key.feed, subject, json))),
    nodeId,
    nowMs,
  ]
  try {
    const [answer] = await database.write((session) => session.query<{ status: string }>(call, values))
    if (answer?.status === 'thinned') return { kind: 'thinned', events: due.length }
    if (answer?.status !== 'closed') return { kind: 'busy' }
  } catch (error) {
    // One of the subjects was put on hold or restricted since it was read: nothing was changed, and the next step sees it.
    if (codeOf(error) === onHold) return { kind: 'thinned', events: 0 }
    throw error
  }
  // The feed was closed since it was read: another look says by what.
  return thin({ database }, span, limit, { nodeId, nowMs })
}
