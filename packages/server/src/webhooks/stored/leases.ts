/**
 * Which node sends to which endpoint (W5). An endpoint names its node, and a node stands in the list of senders: the leases of a node are
 * renewed by one row. Whoever finds a node there that is late takes it from the list, and frees what it had, in one commit; so a node that
 * comes back late still has everything, or nothing.
 */
import { among, defineWrite, noteLockWaitMs, removal, statement } from '../../sql/database.ts'
import type { StoreAccess, Transaction } from '../../sql/database.ts'
import type { Lease, Renewal, WebhookStore } from '../endpoint.ts'
import { endpointsOf, freed, recordsOf } from '../endpoint-rows.ts'
import type { EndpointNumber } from '../endpoint-rows.ts'
import { waitingOf } from './waiting-store.ts'
import type { WaitingRow } from './waiting-store.ts'

const announce = statement(
  'webhook-sender-announce',
  `INSERT INTO webhook_sender (node, until_ms) VALUES ($1, $2)
    ON CONFLICT (node) DO UPDATE SET until_ms = excluded.until_ms`,
)
const removeLate = statement<{ readonly node: string }>(
  'webhook-senders-remove-late',
  removal('webhook_sender', 'node', 'node <> $1 AND until_ms <= $2'),
)
const removeSender = statement('webhook-sender-remove', 'DELETE FROM webhook_sender WHERE node = $1')
const countSenders = statement<{ readonly senders: number; readonly enabled: number }>(
  'webhook-senders',
  `SELECT (SELECT count(*) FROM webhook_sender) AS senders, (SELECT count(*) FROM webhook WHERE state = 'enabled') AS enabled`,
)
const isAnyEnabled = statement(
  'webhook-is-any-enabled',
  `SELECT 1 AS enabled FROM webhook WHERE state = 'enabled' LIMIT 1`,
)

const held = statement<{ readonly endpoint_id: string; readonly lease_no: number }>(
  'webhook-leases-held',
  `SELECT endpoint_id, lease_no FROM webhook WHERE lease_node = $1 AND state = 'enabled' ORDER BY endpoint_no`,
)
/** In the order in which progress locks them. */
const lockHeld = statement<EndpointNumber & { readonly endpoint_id: string }>(
  'webhook-leases-lock',
  (dialect) => `SELECT endpoint_no, endpoint_id FROM webhook
    WHERE lease_node ${among('$1', 'text')(dialect)} AND state = 'enabled' ORDER BY endpoint_no FOR NO KEY UPDATE`,
)
const free = statement(
  'webhook-leases-free',
  (dialect) => `UPDATE webhook SET ${freed} WHERE endpoint_no ${among('$1', 'integer')(dialect)}`,
)
const lockFree = statement<EndpointNumber>(
  'webhook-leases-lock-free',
  `SELECT endpoint_no FROM webhook WHERE lease_node IS NULL AND state = 'enabled'
    ORDER BY endpoint_no LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED`,
)
const take = statement(
  'webhook-leases-take',
  (dialect) =>
    `UPDATE webhook SET lease_no = lease_no + 1, lease_node = $2 WHERE endpoint_no ${among('$1', 'integer')(dialect)}`,
)
const waitingOfAll = statement<WaitingRow>(
  'webhook-waiting-of',
  (dialect) => `SELECT * FROM webhook_waiting WHERE endpoint_no ${among('$1', 'integer')(dialect)}
    ORDER BY endpoint_no, sequence`,
)

const renew = defineWrite(
  'webhook-renew',
  async (tx, nodeId: string, leaseMs: number, isShared: boolean): Promise<Renewal> => {
    await removeOthers(tx, nodeId, isShared)
    await tx.rows(announce(nodeId, (await tx.nowMs()) + leaseMs))
    const rows = await tx.rows(held(nodeId))
    const [counts] = await tx.rows(countSenders())
    return {
      held: rows.map((row) => ({ endpointId: row.endpoint_id, leaseNo: row.lease_no })),
      enabled: counts?.enabled ?? 0,
      senders: counts?.senders ?? 1,
    }
  },
  { lockWaitMs: noteLockWaitMs },
)

/** Those that are late; where only one node serves at a time, all others have ended. */
async function removeOthers(tx: Transaction, nodeId: string, isShared: boolean): Promise<void> {
  const lateMs = isShared ? await tx.nowMs() : Number.MAX_SAFE_INTEGER
  const late = await tx.rows(removeLate(nodeId, lateMs))
  if (late.length === 0) return
  const rows = await tx.rows(lockHeld(JSON.stringify(late.map(({ node }) => node))))
  await tx.rows(free(numbersOf(rows)))
}

const claim = defineWrite(
  'webhook-claim',
  async (tx, nodeId: string, atMost: number, leaseMs: number): Promise<readonly Lease[]> => {
    await tx.rows(announce(nodeId, (await tx.nowMs()) + leaseMs))
    const numbers = numbersOf(await tx.rows(lockFree(atMost)))
    if (numbers === '[]') return []
    await tx.rows(take(numbers, nodeId))
    const rows = await tx.rows(endpointsOf(numbers))
    const waiting = Map.groupBy(await tx.rows(waitingOfAll(numbers)), (row) => row.endpoint_no)
    const leased = new Map(rows.map((row) => [row.endpoint_no, row]))
    return (await recordsOf(tx, rows)).map(({ endpointNo, record }) => ({
      leaseNo: leased.get(endpointNo)?.lease_no ?? 0,
      writes: leased.get(endpointNo)?.writes ?? 0,
      endpoint: record,
      waiting: (waiting.get(endpointNo) ?? []).map(waitingOf),
    }))
  },
  { lockWaitMs: noteLockWaitMs },
)

const release = defineWrite(
  'webhook-release',
  async (tx, nodeId: string, endpointIds: readonly string[] | undefined): Promise<void> => {
    if (endpointIds === undefined) await tx.rows(removeSender(nodeId))
    const rows = await tx.rows(lockHeld(JSON.stringify([nodeId])))
    const given =
      endpointIds === undefined ? rows : rows.filter((row) => endpointIds.includes(row.endpoint_id))
    if (given.length > 0) await tx.rows(free(numbersOf(given)))
  },
)

function numbersOf(rows: readonly EndpointNumber[]): string {
  return JSON.stringify(rows.map((row) => row.endpoint_no))
}

export function leaseStore(
  { read, write }: StoreAccess,
  isShared: boolean,
): Pick<WebhookStore, 'renew' | 'claim' | 'release'> {
  return {
    async renew(nodeId, leaseMs) {
      // Whatever the node had is free: who ends or pauses an endpoint takes its lease. A store without work stays unwritten.
      const isIdle = (await read.rows(isAnyEnabled())).length === 0
      if (isIdle) return { held: [], enabled: 0, senders: 0 }
      return write(renew, nodeId, leaseMs, isShared)
    },
    claim: (nodeId, atMost, leaseMs) => write(claim, nodeId, atMost, leaseMs),
    release: (nodeId, endpointIds) => write(release, nodeId, endpointIds),
  }
}
