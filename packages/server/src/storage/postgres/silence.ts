/** Silence of publishers and consumers. */
import {
  intervalExpected,
  nextTurn,
  pausesText,
  presenceKeyOf,
  setConsumersPerKey,
} from '../silence-store.ts'
import type { Presence, PresenceName, SilenceStore, SilenceTurn } from '../silence-store.ts'
import { bigints, booleans, smallints, texts } from './array.ts'
import type { NoteChanges } from '../../sql/postgres.ts'
import type { Database, Row, Session, Statement } from './connection.ts'
import { presenceReads } from './presence-reads.ts'

/** If nodes ask at the same time, the later one sees what the earlier one has written. */
const lockTurn: Statement = {
  name: 'silence-turn',
  text: 'SELECT number, looked_ms, watched_ms, minute FROM silence_turn FOR UPDATE',
}
const setTurn: Statement = {
  name: 'silence-take',
  text: 'UPDATE silence_turn SET number = $1, looked_ms = $2, watched_ms = $3',
}
const goOn: Statement = {
  name: 'silence-go-on',
  text: 'UPDATE silence_turn SET looked_ms = greatest(looked_ms, $2::bigint) WHERE number = $1 RETURNING number',
}
const setMinute: Statement = {
  name: 'silence-minute',
  text: 'UPDATE silence_turn SET minute = $2 WHERE number = $1',
}
const putPresences: Statement = {
  name: 'presence-put',
  text: `INSERT INTO presence (kind, tenant, key_id, part, first_ms, last_ms, pauses, active_ms, silent_ms, told)
    SELECT * FROM unnest($1::smallint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::bigint[],
        $9::bigint[], $10::boolean[])
      AS r (kind, tenant, key_id, part, first_ms, last_ms, pauses, active_ms, silent_ms, told)
    ORDER BY kind, tenant COLLATE "C", key_id COLLATE "C", part COLLATE "C"
    ON CONFLICT (kind, tenant, key_id, part) DO UPDATE SET first_ms = excluded.first_ms, last_ms = excluded.last_ms,
      pauses = excluded.pauses, active_ms = excluded.active_ms, silent_ms = excluded.silent_ms, told = excluded.told`,
}
const removePresences: Statement = {
  name: 'presence-remove',
  text: `DELETE FROM presence p USING unnest($1::smallint[], $2::text[], $3::text[], $4::text[]) AS r (kind, tenant, key_id, part)
    WHERE (p.kind, p.tenant, p.key_id, p.part) = (r.kind, r.tenant COLLATE "C", r.key_id COLLATE "C", r.part COLLATE "C")`,
}
/** Of other consumers of the key. */
const countSet: Statement = {
  name: 'silence-count-set',
  text: `SELECT count(*)::integer AS count FROM presence
    WHERE kind = $1 AND tenant = $2 AND key_id = $3 AND part <> $4 AND expected_ms IS NOT NULL`,
}
/** Neither is removed while a setting is made for it. */
const lockTenant: Statement = {
  name: 'silence-tenant',
  text: 'SELECT tenant::text AS tenant FROM tenant WHERE tenant = $1::uuid FOR KEY SHARE',
}
/** One at a time, so that no more are set than allowed. */
const lockKey: Statement = {
  name: 'silence-key',
  text: 'SELECT key_no FROM key WHERE key_id = $1 FOR NO KEY UPDATE',
}
const selectTenants: Statement = {
  name: 'silence-key-tenants',
  text: 'SELECT DISTINCT tenant::text AS tenant FROM key_grant WHERE key_no = $1',
}
/** Returns a row if something has changed. A learned interval needs no new row. */
const putExpectation: Statement = {
  name: 'silence-expect',
  text: `INSERT INTO presence AS p (kind, tenant, key_id, part, pauses, told, expected_ms)
    SELECT $1, $2, $3, $4, '[]', true, $5 WHERE $5::bigint IS NOT NULL OR EXISTS (
      SELECT FROM presence o WHERE (o.kind, o.tenant, o.key_id, o.part) = ($1::smallint, $2::text, $3::text, $4::text))
    ON CONFLICT (kind, tenant, key_id, part) DO UPDATE SET expected_ms = excluded.expected_ms
      WHERE p.expected_ms IS DISTINCT FROM excluded.expected_ms
    RETURNING kind`,
}

interface TurnRow extends Row {
  readonly number: string
  readonly looked_ms: string
  readonly watched_ms: string
  readonly minute: number
}

export function databaseSilence(database: Database, note: NoteChanges): SilenceStore {
  return {
    ...presenceReads(database),
    takeTurn: (nowMs) => database.transaction((session) => takeTurn(session, nowMs)),
    put: (turn, nowMs, presences, removed) =>
      database.transaction(async (session) => {
        if ((await session.query(goOn, [turn.number, nowMs])).length === 0) return false
        if (presences.length > 0) await session.query(putPresences, presenceValues(presences))
        if (removed.length > 0) await session.query(removePresences, nameValues(removed))
        return true
      }),
    endTurn: (turn, minute) =>
      database.write(async (session) => void (await session.query(setMinute, [turn.number, minute]))),
    expect: (name, expectation, actor) =>
      database.transaction(async (session) => {
        const tenants = await lockedTenants(session, name)
        if (tenants === undefined) return name.kind === 'publisher' ? 'unknownTenant' : 'unknownKey'
        const { kind, tenant, keyId, part } = presenceKeyOf(name)
        const expected = expectation === 'never' ? 0 : (expectation ?? null)
        if (name.kind === 'consumer' && expected !== null) {
          const [row] = await session.query<Row & { readonly count: number }>(countSet, [
            kind,
            tenant,
            keyId,
            part,
          ])
          if ((row?.count ?? 0) >= setConsumersPerKey) return 'tooMany'
        }
        const changed = await session.query(putExpectation, [kind, tenant, keyId, part, expected])
        if (changed.length > 0) await note(session, intervalExpected(name, expectation, tenants), actor)
        return 'done'
      }),
  }
}

async function takeTurn(session: Session, nowMs: number): Promise<SilenceTurn | undefined> {
  const [row] = await session.query<TurnRow>(lockTurn, [])
  if (row === undefined) return undefined
  const { number, looked_ms: lookedMs, watched_ms: watchedMs, minute } = row
  const before = { number: Number(number), lookedMs: Number(lookedMs), watchedMs: Number(watchedMs), minute }
  const taken = nextTurn(before, nowMs)
  if (taken === undefined) return undefined
  await session.query(setTurn, [taken.number, taken.lookedMs, taken.watchedMs])
  return taken
}

/** Tenants that the row of the audit concerns; `undefined`: what is named does not exist. */
async function lockedTenants(session: Session, name: PresenceName): Promise<readonly string[] | undefined> {
  if (name.kind === 'publisher') {
    const rows = await session.query(lockTenant, [name.tenantId])
    return rows.length === 0 ? undefined : [name.tenantId]
  }
  const [key] = await session.query<Row & { readonly key_no: string }>(lockKey, [name.keyId])
  if (key === undefined) return undefined
  const rows = await session.query<Row & { readonly tenant: string }>(selectTenants, [key.key_no])
  return rows.map(({ tenant }) => tenant)
}

function nameValues(names: readonly PresenceName[]) {
  const keys = names.map(presenceKeyOf)
  return [
    smallints(keys.map(({ kind }) => kind)),
    texts(keys.map(({ tenant }) => tenant)),
    texts(keys.map(({ keyId }) => keyId)),
    texts(keys.map(({ part }) => part)),
  ]
}

function presenceValues(presences: readonly Presence[]) {
  return [
    ...nameValues(presences.map(({ name }) => name)),
    bigints(presences.map(({ firstMs }) => firstMs ?? null)),
    bigints(presences.map(({ lastMs }) => lastMs ?? null)),
    texts(presences.map(({ pauses }) => pausesText(pauses))),
    bigints(presences.map(({ activeMs }) => activeMs ?? null)),
    bigints(presences.map(({ silentMs }) => silentMs ?? null)),
    booleans(presences.map(({ isTold }) => isTold)),
  ]
}
