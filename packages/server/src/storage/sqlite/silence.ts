/** Silence of publishers and consumers: read on this thread, written by the writer's. */
import type { FeedName } from '@property-events/protocol'
import type { Actor } from '../../audit/audit.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import {
  intervalExpected,
  nextTurn,
  pausesOf,
  pausesText,
  presenceKeyOf,
  presenceKinds,
  presenceNameOf,
  setConsumersPerKey,
} from '../silence-store.ts'
import type {
  ExpectOutcome,
  LastAsked,
  Presence,
  PresenceKey,
  PresenceName,
  SetExpectation,
  SilenceStore,
  SilenceTurn,
  TurnState,
} from '../silence-store.ts'
import type { NoteChanges } from '../../sql/sqlite.ts'
import type { Connection } from './connection.ts'
import type { WriterLink } from './writer-link.ts'

export interface SilenceWrites {
  takeSilenceTurn(nowMs: number): SilenceTurn | undefined
  putPresences(
    turn: SilenceTurn,
    nowMs: number,
    presences: readonly Presence[],
    removed: readonly PresenceName[],
  ): boolean
  endSilenceTurn(turn: SilenceTurn, minute: number): void
  expectInterval(name: PresenceName, expectation: SetExpectation | undefined, actor: Actor): ExpectOutcome
}

export function fileSilence(db: Connection, link: WriterLink): Unguarded<SilenceStore> {
  return {
    ...presenceReads(db),
    ...lastSeenReads(db),
    takeTurn: (nowMs) => link.call('takeSilenceTurn', nowMs),
    put: (turn, nowMs, presences, removed) => link.call('putPresences', turn, nowMs, presences, removed),
    endTurn: (turn, minute) => link.call('endSilenceTurn', turn, minute),
    expect: (name, expectation, actor) => link.call('expectInterval', name, expectation, actor),
  }
}

interface PresenceRow {
  readonly kind: number
  readonly tenant: string
  readonly key_id: string
  readonly part: string
  readonly first_ms: number | null
  readonly last_ms: number | null
  readonly pauses: string
  readonly active_ms: number | null
  readonly silent_ms: number | null
  readonly told: number
  readonly expected_ms: number | null
}

function presenceOf(row: PresenceRow): Presence {
  const { kind, tenant, key_id: keyId, part, pauses, told, expected_ms: expected } = row
  return {
    name: presenceNameOf({ kind, tenant, keyId, part }),
    firstMs: row.first_ms ?? undefined,
    lastMs: row.last_ms ?? undefined,
    pauses: pausesOf(pauses),
    activeMs: row.active_ms ?? undefined,
    silentMs: row.silent_ms ?? undefined,
    isTold: told === 1,
    expectation: expected === 0 ? 'never' : (expected ?? undefined),
  }
}

const columns =
  'kind, tenant, key_id, part, first_ms, last_ms, pauses, active_ms, silent_ms, told, expected_ms'

function presenceReads(db: Connection) {
  const select = db.prepare<[PresenceKey & { readonly limit: number }], PresenceRow>(
    `SELECT ${columns} FROM presence WHERE (kind, tenant, key_id, part) > (@kind, @tenant, @keyId, @part)
      ORDER BY kind, tenant, key_id, part LIMIT @limit`,
  )
  const find = db.prepare<[PresenceKey], PresenceRow>(
    `SELECT ${columns} FROM presence WHERE kind = @kind AND tenant = @tenant AND key_id = @keyId AND part = @part`,
  )
  const selectOfKeys = db.prepare<[string], PresenceRow>(
    `SELECT ${columns} FROM presence WHERE kind = ${presenceKinds.consumer} AND tenant = ''
      AND key_id IN (SELECT value FROM json_each(?))`,
  )
  const selectSilent = db.prepare<[number], PresenceRow>(
    `SELECT ${columns} FROM presence WHERE silent_ms IS NOT NULL ORDER BY silent_ms, kind, tenant, key_id, part LIMIT ?`,
  )
  const countSilent = db.prepare<[], { readonly kind: number; readonly count: number }>(
    'SELECT kind, count(*) AS count FROM presence WHERE silent_ms IS NOT NULL GROUP BY kind',
  )
  const beforeAll: PresenceKey = { kind: 0, tenant: '', keyId: '', part: '' }
  return {
    presences: (after: PresenceName | undefined, limit: number) =>
      select.all({ ...(after === undefined ? beforeAll : presenceKeyOf(after)), limit }).map(presenceOf),
    find: (names: readonly PresenceName[]) =>
      names.flatMap((name) => {
        const row = find.get(presenceKeyOf(name))
        return row === undefined ? [] : [presenceOf(row)]
      }),
    ofKeys: (keyIds: readonly string[]) => selectOfKeys.all(JSON.stringify(keyIds)).map(presenceOf),
    silent: (limit: number) => selectSilent.all(limit).map(presenceOf),
    countSilent() {
      const counts = new Map(countSilent.all().map(({ kind, count }) => [kind, count]))
      return {
        publishers: counts.get(presenceKinds.publisher) ?? 0,
        consumers: counts.get(presenceKinds.consumer) ?? 0,
      }
    },
  }
}

interface AskedRow {
  readonly tenant: string
  readonly feed: FeedName
  readonly key_id: string
  readonly name: string
  readonly asked_ms: number
}

function lastSeenReads(db: Connection) {
  const selectAsked = db.prepare<[object], AskedRow>(
    `SELECT tenant, feed, key_id, name, max(asked_ms) AS asked_ms FROM consumer_view
      WHERE (tenant, feed, key_id, name) > (@tenantId, @feed, @keyId, @name)
      GROUP BY tenant, feed, key_id, name ORDER BY tenant, feed, key_id, name LIMIT @limit`,
  )
  const selectPublished = db.prepare<
    [number, number],
    { readonly minute: number; readonly tenant: string; readonly feed: number }
  >(
    `SELECT DISTINCT minute, tenant, feed FROM published WHERE requests > refused AND minute = (
      SELECT minute FROM published WHERE minute > ? AND minute <= ? AND requests > refused ORDER BY minute LIMIT 1)`,
  )
  const selectReplaced = db.prepare<[], { readonly keyId: string; readonly by: string }>(
    'SELECT replaces AS keyId, key_id AS "by" FROM key WHERE replaces IS NOT NULL',
  )
  const beforeAll = { tenantId: '', feed: '', keyId: '', name: '' }
  return {
    asked: (after: LastAsked | undefined, limit: number) => {
      const { tenantId, feed, keyId, name } = after ?? beforeAll
      return selectAsked.all({ tenantId, feed, keyId, name, limit }).map((row): LastAsked => {
        return {
          tenantId: row.tenant,
          feed: row.feed,
          keyId: row.key_id,
          name: row.name,
          askedMs: row.asked_ms,
        }
      })
    },
    publishedAfter(after: number, toMinute: number) {
      const rows = selectPublished.all(after, toMinute)
      const minute = rows[0]?.minute
      if (minute === undefined) return undefined
      const publishers = rows.map(({ tenant, feed }) => {
        return { tenantId: tenant, feed: feed === 1 ? ('property' as const) : ('contact' as const) }
      })
      return { minute, publishers }
    },
    replacedKeys: () => selectReplaced.all(),
  }
}

export function silenceWrites(db: Connection, note: NoteChanges): SilenceWrites {
  return { ...turnWrites(db), ...expectationWrites(db, note) }
}

function turnWrites(db: Connection): Omit<SilenceWrites, 'expectInterval'> {
  const selectTurn = db.prepare<[], TurnState>(
    'SELECT number, looked_ms AS lookedMs, watched_ms AS watchedMs, minute FROM silence_turn',
  )
  const setTurn = db.prepare('UPDATE silence_turn SET number = ?, looked_ms = ?, watched_ms = ?')
  const goOn = db.prepare('UPDATE silence_turn SET looked_ms = max(looked_ms, ?) WHERE number = ?')
  const setMinute = db.prepare('UPDATE silence_turn SET minute = ? WHERE number = ?')
  const put = db.prepare(
    `INSERT INTO presence (${columns}) VALUES (@kind, @tenant, @keyId, @part, @firstMs, @lastMs, @pauses, @activeMs, @silentMs, @told, NULL)
      ON CONFLICT DO UPDATE SET first_ms = excluded.first_ms, last_ms = excluded.last_ms, pauses = excluded.pauses,
        active_ms = excluded.active_ms, silent_ms = excluded.silent_ms, told = excluded.told`,
  )
  const remove = db.prepare<[PresenceKey]>(
    'DELETE FROM presence WHERE kind = @kind AND tenant = @tenant AND key_id = @keyId AND part = @part',
  )
  const takeTurn = db.transaction((nowMs: number): SilenceTurn | undefined => {
    const before = selectTurn.get()
    const taken = before && nextTurn(before, nowMs)
    if (taken === undefined) return undefined
    setTurn.run(taken.number, taken.lookedMs, taken.watchedMs)
    return taken
  })
  const putAll = db.transaction(
    (...[turn, nowMs, presences, removed]: Parameters<SilenceWrites['putPresences']>): boolean => {
      if (goOn.run(nowMs, turn.number).changes === 0) return false
      for (const presence of presences) put.run(rowOf(presence))
      for (const name of removed) remove.run(presenceKeyOf(name))
      return true
    },
  )
  return {
    takeSilenceTurn: (nowMs) => takeTurn.immediate(nowMs),
    putPresences: (...given) => putAll.immediate(...given),
    endSilenceTurn: (turn, minute) => void setMinute.run(minute, turn.number),
  }
}

function rowOf({ name, pauses, isTold, ...times }: Presence) {
  const { firstMs = null, lastMs = null, activeMs = null, silentMs = null } = times
  const told = isTold ? 1 : 0
  return { ...presenceKeyOf(name), firstMs, lastMs, pauses: pausesText(pauses), activeMs, silentMs, told }
}

function expectationWrites(db: Connection, note: NoteChanges): Pick<SilenceWrites, 'expectInterval'> {
  const hasTenant = db.prepare<[string]>('SELECT 1 FROM tenant WHERE tenant = ?')
  const findKey = db.prepare<[string], number>('SELECT key_no FROM key WHERE key_id = ?').pluck()
  const tenantsOf = db
    .prepare<[number], string>('SELECT DISTINCT tenant FROM key_grant WHERE key_no = ?')
    .pluck()
  const findExpected = db
    .prepare<[PresenceKey], number | null>(
      'SELECT expected_ms FROM presence WHERE kind = @kind AND tenant = @tenant AND key_id = @keyId AND part = @part',
    )
    .pluck()
  const countSet = db
    .prepare<[PresenceKey], number>(
      `SELECT count(*) FROM presence WHERE kind = @kind AND tenant = @tenant AND key_id = @keyId AND expected_ms IS NOT NULL`,
    )
    .pluck()
  const put = db.prepare(
    `INSERT INTO presence (kind, tenant, key_id, part, pauses, told, expected_ms) VALUES (@kind, @tenant, @keyId, @part, '[]', 1, @expected)
      ON CONFLICT DO UPDATE SET expected_ms = excluded.expected_ms`,
  )
  const expect = db.transaction(
    (...[name, expectation, actor]: Parameters<SilenceWrites['expectInterval']>): ExpectOutcome => {
      const keyNo = name.kind === 'consumer' ? findKey.get(name.keyId) : undefined
      if (name.kind === 'consumer' && keyNo === undefined) return 'unknownKey'
      if (name.kind === 'publisher' && hasTenant.get(name.tenantId) === undefined) return 'unknownTenant'
      const key = presenceKeyOf(name)
      const expected = expectation === 'never' ? 0 : (expectation ?? null)
      const before = findExpected.get(key) ?? null
      if (before === expected) return 'done'
      const isMore = before === null && name.kind === 'consumer'
      if (isMore && (countSet.get(key) ?? 0) >= setConsumersPerKey) return 'tooMany'
      put.run({ ...key, expected })
      note(intervalExpected(name, expectation, keyNo === undefined ? [] : tenantsOf.all(keyNo)), actor)
      return 'done'
    },
  )
  return { expectInterval: (...given) => expect.immediate(...given) }
}
