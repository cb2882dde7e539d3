/** Reads when publishers and consumers were last present. */
import { pausesOf, presenceKeyOf, presenceKinds, presenceNameOf } from '../silence-store.ts'
import type { LastAsked, Presence, PresenceKey, SilenceStore } from '../silence-store.ts'
import { smallints, texts } from './array.ts'
import type { Database, Row, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'

const columns =
  'kind, tenant, key_id, part, first_ms, last_ms, pauses, active_ms, silent_ms, told, expected_ms'
const selectPresences: Statement = {
  name: 'presence-list',
  text: `SELECT ${columns} FROM presence WHERE (kind, tenant, key_id, part) > ($1::smallint, $2::text, $3::text, $4::text)
    ORDER BY kind, tenant, key_id, part LIMIT $5`,
}
const findPresences: Statement = {
  name: 'presence-find',
  text: `SELECT p.* FROM unnest($1::smallint[], $2::text[], $3::text[], $4::text[]) AS r (kind, tenant, key_id, part)
    JOIN presence p ON (p.kind, p.tenant, p.key_id, p.part) = (r.kind, r.tenant COLLATE "C", r.key_id COLLATE "C", r.part COLLATE "C")`,
}
const selectOfKeys: Statement = {
  name: 'presence-of-keys',
  text: `SELECT ${columns} FROM presence WHERE kind = ${presenceKinds.consumer} AND tenant = '' AND key_id = ANY ($1::text[] COLLATE "C")`,
}
const selectSilent: Statement = {
  name: 'presence-silent',
  text: `SELECT ${columns} FROM presence WHERE silent_ms IS NOT NULL ORDER BY silent_ms, kind, tenant, key_id, part LIMIT $1`,
}
const countSilent: Statement = {
  name: 'presence-count-silent',
  text: `SELECT count(*) FILTER (WHERE kind = ${presenceKinds.publisher})::integer AS publishers,
    count(*) FILTER (WHERE kind = ${presenceKinds.consumer})::integer AS consumers FROM presence WHERE silent_ms IS NOT NULL`,
}
/** In the order of the primary key, so that no more is read than is returned. */
const selectAsked: Statement = {
  name: 'presence-asked',
  text: `SELECT tenant, feed, key_id, name, max(asked_ms) AS asked_ms FROM consumer_view
    WHERE (tenant, feed, key_id, name) > ($1::uuid, $2::smallint, $3::text, $4::text)
    GROUP BY tenant, feed, key_id, name ORDER BY tenant, feed, key_id, name LIMIT $5`,
}
const selectPublished: Statement = {
  name: 'presence-published',
  text: `SELECT DISTINCT minute, tenant, feed FROM published WHERE requests > refused AND minute = (
      SELECT minute FROM published WHERE minute > $1 AND minute <= $2 AND requests > refused ORDER BY minute LIMIT 1)`,
}
const selectReplaced: Statement = {
  name: 'presence-replaced',
  text: 'SELECT replaces AS "keyId", key_id AS "by" FROM key WHERE replaces IS NOT NULL',
}

interface PresenceRow extends Row {
  readonly kind: number
  readonly tenant: string
  readonly key_id: string
  readonly part: string
  readonly first_ms: string | null
  readonly last_ms: string | null
  readonly pauses: string
  readonly active_ms: string | null
  readonly silent_ms: string | null
  readonly told: boolean
  readonly expected_ms: string | null
}

interface AskedRow extends Row {
  readonly tenant: string
  readonly feed: number
  readonly key_id: string
  readonly name: string
  readonly asked_ms: string
}

interface PublishedRow extends Row {
  readonly minute: number
  readonly tenant: string
  readonly feed: number
}

type PresenceReads = Omit<SilenceStore, 'takeTurn' | 'put' | 'endTurn' | 'expect'>

const firstKey: PresenceKey = { kind: 0, tenant: '', keyId: '', part: '' }
const firstAsked = ['00000000-0000-0000-0000-000000000000', 0, '', ''] as const

export function presenceReads(database: Database): PresenceReads {
  return {
    async presences(after, limit) {
      const { kind, tenant, keyId, part } = after === undefined ? firstKey : presenceKeyOf(after)
      const rows = await database.read<PresenceRow>(selectPresences, [kind, tenant, keyId, part, limit])
      return rows.map(presenceOf)
    },
    async find(names) {
      const keys = names.map(presenceKeyOf)
      const rows = await database.read<PresenceRow>(findPresences, [
        smallints(keys.map(({ kind }) => kind)),
        texts(keys.map(({ tenant }) => tenant)),
        texts(keys.map(({ keyId }) => keyId)),
        texts(keys.map(({ part }) => part)),
      ])
      return rows.map(presenceOf)
    },
    ofKeys: async (keyIds) =>
      (await database.read<PresenceRow>(selectOfKeys, [texts(keyIds)])).map(presenceOf),
    silent: async (limit) => (await database.read<PresenceRow>(selectSilent, [limit])).map(presenceOf),
    async countSilent() {
      const [row] = await database.read<Row & { readonly publishers: number; readonly consumers: number }>(
        countSilent,
        [],
      )
      return { publishers: row?.publishers ?? 0, consumers: row?.consumers ?? 0 }
    },
    async asked(after, limit) {
      const from =
        after === undefined ? firstAsked : [after.tenantId, feedNumbers[after.feed], after.keyId, after.name]
      return (await database.read<AskedRow>(selectAsked, [...from, limit])).map(askedOf)
    },
    async publishedAfter(after, toMinute) {
      const rows = await database.read<PublishedRow>(selectPublished, [after, toMinute])
      const minute = rows[0]?.minute
      if (minute === undefined) return undefined
      return { minute, publishers: rows.map((row) => ({ tenantId: row.tenant, feed: feedOf(row.feed) })) }
    },
    replacedKeys: () =>
      database.read<Row & { readonly keyId: string; readonly by: string }>(selectReplaced, []),
  }
}

function presenceOf(row: PresenceRow): Presence {
  const { kind, tenant, key_id: keyId, part, pauses, told: isTold } = row
  const expected = numberOf(row.expected_ms)
  return {
    name: presenceNameOf({ kind, tenant, keyId, part }),
    firstMs: numberOf(row.first_ms),
    lastMs: numberOf(row.last_ms),
    pauses: pausesOf(pauses),
    activeMs: numberOf(row.active_ms),
    silentMs: numberOf(row.silent_ms),
    isTold,
    expectation: expected === 0 ? 'never' : expected,
  }
}

function askedOf(row: AskedRow): LastAsked {
  const { tenant: tenantId, key_id: keyId, name } = row
  return { tenantId, feed: feedOf(row.feed), keyId, name, askedMs: Number(row.asked_ms) }
}

function feedOf(feed: number): LastAsked['feed'] {
  return feed === feedNumbers.property ? 'property' : 'contact'
}

function numberOf(value: string | null): number | undefined {
  return value === null ? undefined : Number(value)
}
