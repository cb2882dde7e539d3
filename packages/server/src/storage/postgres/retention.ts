/** The port's part for retention, on a database: rules, and steps that thin. */
import { millisecondsOfTicks } from '@property-events/protocol'
import { retentionSet } from '../../audit/changes.ts'
import { codeOf } from '../error-code.ts'
import { reducedEventJson } from '../reduced-event.ts'
import { cutThinStep, nextThinStep, retentionRules, retentionTurnMs } from '../retention-store.ts'
import type { RetentionStore, ThinOutcome, ThinSpan } from '../storage.ts'
import { bigints, texts, uuids } from './array.ts'
import type { Row, Statement } from './connection.ts'
import { readDue, readThinState } from './due-events.ts'
import type { EngineParts } from './engine-parts.ts'
import { feedNumbers } from './feed-number.ts'

const selectRules: Statement = {
  name: 'retention-rules',
  text: 'SELECT tenant, rule, days FROM retention_rule ORDER BY tenant, rule',
}
const selectRulesOf: Statement = {
  name: 'retention-rules-of',
  text: 'SELECT tenant, rule, days FROM retention_rule WHERE tenant = $1 ORDER BY rule',
}
const lockTenant: Statement = {
  name: 'retention-tenant',
  text: `SELECT t.tenant, r.days FROM tenant t LEFT JOIN retention_rule r ON r.tenant = t.tenant AND r.rule = $2
    WHERE t.tenant = $1 FOR NO KEY UPDATE OF t`,
}
const putRule: Statement = {
  name: 'retention-put',
  text: `INSERT INTO retention_rule (tenant, rule, days) VALUES ($1, $2, $3)
    ON CONFLICT (tenant, rule) DO UPDATE SET days = excluded.days`,
}
const removeRule: Statement = {
  name: 'retention-remove',
  text: 'DELETE FROM retention_rule WHERE tenant = $1 AND rule = $2',
}
const call: Statement = {
  name: 'retention-thin',
  text: `SELECT thin_events($1, $2, $3, $4, $5, $6, $7, $8, $9::bigint[], $10::uuid[], $11::uuid[], $12::text[], $13,
    ${retentionTurnMs}, $14) AS status`,
}

const takeTurn: Statement = {
  name: 'retention-take-turn',
  text: `WITH now AS (SELECT coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS ms)
    UPDATE thin_turn SET node = $1, until_ms = now.ms + ${retentionTurnMs} FROM now
    WHERE node = $1 OR until_ms <= now.ms RETURNING node`,
}
const endTurn: Statement = {
  name: 'retention-end-turn',
  text: 'UPDATE thin_turn SET until_ms = 0 WHERE node = $1',
}

/** Raised by the function. */
const onHold = 'PE001'

type Parts = Pick<EngineParts, 'database' | 'given' | 'note' | 'remembered' | 'changes' | 'watching'>

export function databaseRetention(parts: Parts): RetentionStore {
  const { database, note, changes, watching, remembered } = parts
  const nowMs = (): number | null => {
    const now = parts.given()
    return now === undefined ? null : millisecondsOfTicks(now)
  }
  return {
    async rules(of) {
      const [statement, values] = of === undefined ? [selectRules, []] : [selectRulesOf, [of]]
      const rows = await database.read<Row & { tenant: string; rule: string; days: number }>(
        statement,
        values,
      )
      return rows.flatMap(({ tenant: tenantId, rule: name, days }) => {
        const rule = retentionRules.find((known) => known === name)
        return rule === undefined ? [] : [{ tenantId, rule, days }]
      })
    },
    setRule: (tenantId, rule, days, actor) =>
      database.transaction(async (session) => {
        const [row] = await session.query<{ days: number | null }>(lockTenant, [tenantId, rule])
        if (row === undefined) return 'unknownTenant'
        if ((row.days ?? undefined) === days) return 'done'
        if (days === undefined) await session.query(removeRule, [tenantId, rule])
        else await session.query(putRule, [tenantId, rule, days])
        await note(session, retentionSet(tenantId, rule, days), actor)
        return 'done'
      }),
    takeTurn: (nodeId) =>
      database.write(async (session) => {
        return (await session.query(takeTurn, [nodeId, nowMs()])).length > 0
      }),
    endTurn: (nodeId) => database.write(async (session) => void (await session.query(endTurn, [nodeId]))),
    async thin(span, limit, nodeId) {
      const outcome = await thin(parts, span, limit, { nodeId, nowMs: nowMs() })
      if (outcome.kind === 'thinned' && outcome.events > 0) {
        remembered.forget([span.key])
        changes.send([span.key])
        watching.tell(span.key)
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
  { database }: Parts,
  span: ThinSpan,
  limit: number,
  { nodeId, nowMs }: { readonly nodeId: string; readonly nowMs: number | null },
): Promise<ThinOutcome> {
  const { key } = span
  const state = await readThinState(database, span)
  if (state?.isOpen !== true) return { kind: 'closed' }
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
    return await database.write(async (session) => {
      const [answer] = await session.query<{ status: string }>(call, values)
      if (answer?.status === 'thinned') return { kind: 'thinned', events: due.length }
      return { kind: answer?.status === 'closed' ? 'closed' : 'busy' }
    })
  } catch (error) {
    // One of the subjects was put on hold or restricted since it was read: nothing was changed, and the next step sees it.
    if (codeOf(error) === onHold) return { kind: 'thinned', events: 0 }
    throw error
  }
}
