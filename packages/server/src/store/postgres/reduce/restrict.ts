/** Restricting contacts, on a database. */
import { restrictionOf, restrictionWithId } from '../../../privacy/restriction/store.ts'
import type { RestrictionRow } from '../../../privacy/restriction/store.ts'
import { sqlOver } from '../../../sql/postgres.ts'
import { bytesPerReduction } from '../../../privacy/erasure/erasure.ts'
import { erasedEventJson } from '../../../events/append/reduced-event.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import type { ReduceOutcome } from '../../../privacy/erasure/erasure.ts'
import type { Restricting } from '../../../privacy/restriction/restriction.ts'
import { bigints, texts } from '../../../sql/postgres/array.ts'
import { beginRestriction, liftRestriction } from './begin-restriction.ts'
import type { Database } from '../../../sql/postgres/connection.ts'
import type { Row, Statement } from '../../../sql/postgres/session.ts'
import { notReduced } from './reduce-events.ts'
import type { EngineParts } from '../engine-parts.ts'
import { feedNumbers } from '../../../sql/database.ts'

const selectKept: Statement = {
  name: 'restriction-kept',
  text: `SELECT sequence, json FROM kept_event WHERE tenant = $1 AND feed = $2 AND subject = $3 AND sequence > $4
    ORDER BY tenant, feed, subject, position LIMIT $5`,
}
const nextShown: Statement = {
  name: 'restriction-next-shown',
  text: `SELECT position, json, octet_length(json) AS bytes FROM event
    WHERE tenant = $1 AND feed = $2 AND subject = $3 AND sequence > 0 AND position >= $4 AND position <= $5
      AND state = 'full'
    ORDER BY tenant, feed, subject, position LIMIT $6`,
}
const nextKept: Statement = {
  name: 'restriction-next-kept',
  text: `SELECT position, '' AS json, octet_length(json) AS bytes FROM kept_event
    WHERE tenant = $1 AND feed = $2 AND subject = $3 AND position >= $4 AND position <= $5
    ORDER BY tenant, feed, subject, position LIMIT $6`,
}
const call: Statement = {
  name: 'restriction-step',
  text: 'SELECT step_restriction($1, $2, $3, $4, $5, $6::bigint[], $7::text[]) AS status',
}

export function databaseRestricting(parts: EngineParts): Restricting {
  const { database, feedStates, watching, changes } = parts
  const changed = (key: FeedKey): void => {
    feedStates.forget([key])
    changes.send([key])
    watching.notify(key)
  }
  return {
    async begin(request) {
      const outcome = await beginRestriction(parts, request)
      if (outcome.kind === 'restricted') changed(request.key)
      return outcome
    },
    async lift(request) {
      const outcome = await liftRestriction(parts, request)
      if (outcome.kind === 'lifting') changed(outcome.restriction.key)
      return outcome
    },
    async step(restrictionId, limit) {
      const sql = sqlOver((statement, values) => database.read(statement, values))
      const [row] = await sql.rows(restrictionWithId(restrictionId))
      if (row?.state !== 'hiding' && row?.state !== 'lifting') return { kind: 'finished' }
      const outcome = await step(database, row, limit)
      if (outcome.kind === 'reduced') changed(restrictionOf(row).key)
      return outcome
    },
    async kept({ key, subjectId, after, limit }) {
      const values = [key.tenantId, feedNumbers[key.feed], subjectId, after, limit]
      const rows = await database.read<{ sequence: string; json: string }>(selectKept, values)
      return rows.map(({ sequence, json }) => ({
        sequenceNumber: Number(sequence),
        json: Buffer.from(json),
      }))
    },
  }
}

interface NextRow extends Row {
  readonly position: string
  readonly json: string
  readonly bytes: number
}

async function step(database: Database, row: RestrictionRow, limit: number): Promise<ReduceOutcome> {
  const { key, restrictionId, subjectId } = restrictionOf(row)
  const { state, next_position: next, last_position: last } = row
  const place = [row.tenant, row.feed, subjectId, next, last, limit + 1]
  const found = await database.read<NextRow>(state === 'hiding' ? nextShown : nextKept, place)
  let bytes = 0
  const end = found.findIndex((one, index) => {
    bytes += one.bytes
    return index > 0 && (index >= limit || bytes > bytesPerReduction)
  })
  const isLast = end < 0
  const taken = isLast ? found : found.slice(0, end)
  const json = state === 'hiding' ? taken.map((one) => erasedEventJson(key.feed, subjectId, one.json)) : []
  const values = [
    restrictionId,
    state,
    next,
    isLast ? last + 1 : Number(taken.at(-1)?.position) + 1,
    isLast,
    bigints(taken.map(({ position }) => BigInt(position))),
    texts(json),
  ]
  return database.write(async (session) => {
    const [answer] = await session.query<{ status: string }>(call, values)
    if (answer?.status === 'reduced') return { kind: 'reduced', events: taken.length }
    return notReduced(session, key)
  })
}
