/** Silence of publishers and consumers in a database. */
import { defineWrite, rowsFrom, statement } from '../../sql/database.ts'
import type { Sql, StatementText, StoreAccess, Transaction, Value } from '../../sql/database.ts'
import type { Actor } from '../../audit/actor.ts'
import { lastSeenReads } from './last-seen.ts'
import {
  intervalExpected,
  nextTurn,
  pausesOf,
  pausesText,
  presenceKeyOf,
  presenceKinds,
  presenceNameOf,
  setConsumersPerKey,
} from './silence.ts'
import type {
  ExpectOutcome,
  Presence,
  PresenceKey,
  PresenceName,
  SetExpectation,
  SilenceStore,
  SilenceTurn,
} from './silence.ts'

const key = { kind: 'integer', tenant: 'text', key_id: 'text', part: 'text' } as const
const keyColumns = Object.keys(key).join(', ')
const given = rowsFrom('$1', key)
/** The rows whose keys are given. */
const ofGiven: StatementText = (dialect) =>
  `WHERE (${keyColumns}) IN (SELECT ${keyColumns} FROM ${given(dialect)})`
const ofKey = 'WHERE kind = $1 AND tenant = $2 AND key_id = $3 AND part = $4'

const list = statement<PresenceRow>(
  'presence-list',
  `SELECT * FROM presence WHERE (${keyColumns}) > ($1, $2, $3, $4) ORDER BY ${keyColumns} LIMIT $5`,
)
const find = statement<PresenceRow>(
  'presence-find',
  (dialect) => `SELECT * FROM presence ${ofGiven(dialect)}`,
)
const ofKeys = statement<PresenceRow>(
  'presence-of-keys',
  (dialect) =>
    `SELECT * FROM presence WHERE kind = ${presenceKinds.consumer} AND tenant = ''
      AND key_id IN (SELECT key_id FROM ${rowsFrom('$1', { key_id: 'text' })(dialect)})`,
)
const silent = statement<PresenceRow>(
  'presence-silent',
  `SELECT * FROM presence WHERE silent_ms IS NOT NULL ORDER BY silent_ms, ${keyColumns} LIMIT $1`,
)
const countSilent = statement<{ readonly kind: number; readonly count: number }>(
  'presence-count-silent',
  'SELECT kind, count(*) AS count FROM presence WHERE silent_ms IS NOT NULL GROUP BY kind',
)
/** If nodes ask at the same time, the later one sees what the earlier one has written. */
const lockTurn = statement<TurnRow>(
  'silence-turn',
  'SELECT number, checked_ms, watched_ms, minute FROM silence_turn FOR UPDATE',
)
const setTurn = statement(
  'silence-take',
  'UPDATE silence_turn SET number = $1, checked_ms = $2, watched_ms = $3',
)
const goOn = statement(
  'silence-go-on',
  `UPDATE silence_turn SET checked_ms = CASE WHEN checked_ms < $2 THEN $2 ELSE checked_ms END WHERE number = $1
    RETURNING number`,
)
const setMinute = statement('silence-minute', 'UPDATE silence_turn SET minute = $2 WHERE number = $1')

const put = statement('presence-put', (dialect) => {
  const rows = rowsFrom('$1', {
    ...key,
    first_ms: 'bigint',
    last_ms: 'bigint',
    pauses: 'text',
    active_ms: 'bigint',
    silent_ms: 'bigint',
    reported: 'boolean',
  })
  return `INSERT INTO presence (${keyColumns}, first_ms, last_ms, pauses, active_ms, silent_ms, reported)
    SELECT ${keyColumns}, first_ms, last_ms, pauses, active_ms, silent_ms, reported FROM ${rows(dialect)} ORDER BY ${keyColumns}
    ON CONFLICT (${keyColumns}) DO UPDATE SET first_ms = excluded.first_ms, last_ms = excluded.last_ms,
      pauses = excluded.pauses, active_ms = excluded.active_ms, silent_ms = excluded.silent_ms, reported = excluded.reported`
})
const remove = statement('presence-remove', (dialect) => `DELETE FROM presence ${ofGiven(dialect)}`)

/** Neither is removed while a setting is made for it. */
const lockTenant = statement('silence-tenant', 'SELECT tenant FROM tenant WHERE tenant = $1 FOR KEY SHARE')
/** One at a time, so that no more are set than allowed. */
const lockKey = statement('silence-key', 'SELECT key_id FROM key WHERE key_id = $1 FOR NO KEY UPDATE')
const keyTenants = statement<{ readonly tenant: string }>(
  'silence-key-tenants',
  'SELECT DISTINCT tenant FROM key_grant WHERE key_no = (SELECT key_no FROM key WHERE key_id = $1)',
)
/** Of other consumers of the key. */
const countSet = statement<{ readonly count: number }>(
  'silence-count-set',
  `SELECT count(*) AS count FROM presence
    WHERE kind = $1 AND tenant = $2 AND key_id = $3 AND part <> $4 AND expected_ms IS NOT NULL`,
)
/** Both return a row if something has changed. */
const expectation = statement(
  'silence-expect',
  `INSERT INTO presence (${keyColumns}, pauses, reported, expected_ms) VALUES ($1, $2, $3, $4, '[]', true, $5)
    ON CONFLICT (${keyColumns}) DO UPDATE SET expected_ms = excluded.expected_ms
      WHERE presence.expected_ms IS DISTINCT FROM excluded.expected_ms
    RETURNING kind`,
)
const learned = statement(
  'silence-learn',
  `UPDATE presence SET expected_ms = NULL ${ofKey} AND expected_ms IS NOT NULL RETURNING kind`,
)

const takeTurn = defineWrite(
  'silence-take-turn',
  async (tx, nowMs: number): Promise<SilenceTurn | undefined> => {
    const [row] = await tx.rows(lockTurn())
    if (row === undefined) return undefined
    const { number, checked_ms: checkedMs, watched_ms: watchedMs, minute } = row
    const turn = nextTurn({ number, checkedMs, watchedMs, minute }, nowMs)
    if (turn === undefined) return undefined
    await tx.rows(setTurn(turn.number, turn.checkedMs, turn.watchedMs))
    return turn
  },
)

const putPresences = defineWrite(
  'presence-put',
  async (
    tx,
    turn: SilenceTurn,
    nowMs: number,
    presences: readonly Presence[],
    removed: readonly PresenceName[],
  ): Promise<boolean> => {
    if ((await tx.rows(goOn(turn.number, nowMs))).length === 0) return false
    if (presences.length > 0) await tx.rows(put(JSON.stringify(presences.map(rowOf))))
    if (removed.length > 0) await tx.rows(remove(keysText(removed)))
    return true
  },
)

const endTurn = defineWrite('silence-end-turn', async (tx, turn: SilenceTurn, minute: number) => {
  await tx.rows(setMinute(turn.number, minute))
})

const expectInterval = defineWrite(
  'silence-expect',
  async (
    tx,
    name: PresenceName,
    wanted: SetExpectation | undefined,
    actor: Actor,
  ): Promise<ExpectOutcome> => {
    const tenants = await lockedTenants(tx, name)
    if (tenants === undefined) return name.kind === 'publisher' ? 'unknownTenant' : 'unknownKey'
    const row = keyValues(name)
    if (wanted !== undefined && name.kind === 'consumer') {
      const [set] = await tx.rows(countSet(...row))
      if ((set?.count ?? 0) >= setConsumersPerKey) return 'tooMany'
    }
    const changed = await tx.rows(
      wanted === undefined ? learned(...row) : expectation(...row, wanted === 'never' ? 0 : wanted),
    )
    if (changed.length > 0) await tx.note(intervalExpected(name, wanted, tenants), actor)
    return 'done'
  },
)

/** Tenants that the row of the audit concerns; `undefined`: what is named does not exist. */
async function lockedTenants(tx: Transaction, name: PresenceName): Promise<readonly string[] | undefined> {
  if (name.kind === 'publisher') {
    return (await tx.rows(lockTenant(name.tenantId))).length === 0 ? undefined : [name.tenantId]
  }
  if ((await tx.rows(lockKey(name.keyId))).length === 0) return undefined
  return (await tx.rows(keyTenants(name.keyId))).map(({ tenant }) => tenant)
}

export function silenceStore({ read, write }: StoreAccess): SilenceStore {
  return {
    ...presenceReads(read),
    ...lastSeenReads(read),
    takeTurn: (nowMs) => write(takeTurn, nowMs),
    put: (turn, nowMs, presences, removed) => write(putPresences, turn, nowMs, presences, removed),
    endTurn: (turn, minute) => write(endTurn, turn, minute),
    expect: (name, wanted, actor) => write(expectInterval, name, wanted, actor),
  }
}

type PresenceReads = Pick<SilenceStore, 'presences' | 'find' | 'ofKeys' | 'silent' | 'countSilent'>

/** Before all others. */
const firstKey = [0, '', '', ''] as const

function presenceReads(read: Sql): PresenceReads {
  return {
    async presences(after, limit) {
      const from = after === undefined ? firstKey : keyValues(after)
      return (await read.rows(list(...from, limit))).map(presenceOf)
    },
    find: async (names) => (await read.rows(find(keysText(names)))).map(presenceOf),
    ofKeys: async (keyIds) =>
      (await read.rows(ofKeys(JSON.stringify(keyIds.map((keyId) => ({ key_id: keyId })))))).map(presenceOf),
    silent: async (limit) => (await read.rows(silent(limit))).map(presenceOf),
    async countSilent() {
      const rows = await read.rows(countSilent())
      const counts = new Map(rows.map(({ kind, count }) => [kind, count]))
      return {
        publishers: counts.get(presenceKinds.publisher) ?? 0,
        consumers: counts.get(presenceKinds.consumer) ?? 0,
      }
    },
  }
}

interface PresenceRow extends PresenceKey {
  readonly first_ms: number | null
  readonly last_ms: number | null
  readonly pauses: string
  readonly active_ms: number | null
  readonly silent_ms: number | null
  readonly reported: boolean | number
  readonly expected_ms: number | null
}

interface TurnRow {
  readonly number: number
  readonly checked_ms: number
  readonly watched_ms: number
  readonly minute: number
}

function keyValues(name: PresenceName): readonly [...Value[]] {
  return Object.values(presenceKeyOf(name))
}

function keysText(names: readonly PresenceName[]): string {
  return JSON.stringify(names.map(presenceKeyOf))
}

function rowOf({ name, pauses, isReported, ...times }: Presence) {
  const { firstMs = null, lastMs = null, activeMs = null, silentMs = null } = times
  return {
    ...presenceKeyOf(name),
    first_ms: firstMs,
    last_ms: lastMs,
    pauses: pausesText(pauses),
    active_ms: activeMs,
    silent_ms: silentMs,
    reported: isReported,
  }
}

function presenceOf(row: PresenceRow): Presence {
  const { expected_ms: expected } = row
  return {
    name: presenceNameOf(row),
    firstMs: row.first_ms ?? undefined,
    lastMs: row.last_ms ?? undefined,
    pauses: pausesOf(row.pauses),
    activeMs: row.active_ms ?? undefined,
    silentMs: row.silent_ms ?? undefined,
    isReported: Boolean(row.reported),
    expectation: expected === 0 ? 'never' : (expected ?? undefined),
  }
}
