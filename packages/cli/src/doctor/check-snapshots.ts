/** Finds out what keeps old versions of rows alive, which slows feeds that are published to (docs/operating/postgresql.md). */
import type { HeldSnapshot } from '@property-events/server'
import { ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** After this many publications to one feed, a probe of it reads some 600 pages, which takes some 2 ms. */
const transactionsAtMost = 50_000

const kinds: Readonly<Record<HeldSnapshot['holder'], string>> = {
  session: 'a session',
  standby: 'a standby (hot_standby_feedback)',
  slot: 'a replication slot',
  catalog_slot: 'a logical replication slot (catalogues alone)',
  prepared: 'a prepared transaction',
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`
const dropSlot = (name: string): string =>
  `Restart what reads from it, or: SELECT pg_drop_replication_slot(${literal(name)}).`

const remedies: Readonly<Record<HeldSnapshot['holder'], (name: string) => string>> = {
  session(name) {
    const pid = /^pid (\d+)/.exec(name)?.[1] ?? '…'
    return `Let it end, or: SELECT pg_terminate_backend(${pid}). Back up with pg_basebackup, which holds no snapshot.`
  },
  standby: () => 'End the long query on the standby, or set hot_standby_feedback = off there.',
  slot: dropSlot,
  catalog_slot: dropSlot,
  prepared: (name) => `COMMIT PREPARED ${literal(name)}, or ROLLBACK PREPARED ${literal(name)}.`,
}

export function checkSnapshots(snapshots: readonly HeldSnapshot[]): Finding {
  const [oldest] = snapshots.toSorted((one, other) => other.transactions - one.transactions)
  if (oldest === undefined) return ok('snapshots', 'none is held')
  const { holder, transactions, seconds, name } = oldest
  const since = seconds === undefined ? '' : `, ${Math.round(seconds)} s`
  const detail = `the oldest is held by ${kinds[holder]} (${name}): ${transactions} transactions${since}`
  if (transactions < transactionsAtMost) return ok('snapshots', detail)
  return warn(
    'snapshots',
    `${detail}; every version of a feed's counter since then is kept`,
    remedies[holder](name),
  )
}
