/** A primary with a synchronous standby, which takes over with another clock, and is given a standby in its turn. */
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { launchPostgres } from '../launch-postgres.ts'
import type { LaunchedPostgres } from '../launch-postgres.ts'
import { promote, replicateSynchronously, startStandby, untilRow, withClient } from '../support/standby.ts'

export interface Cluster extends AsyncDisposable {
  /** The primary's socket; the place of new connections. */
  readonly socketFile: () => string
  /** By how much the clock of the present primary differs from this machine's. */
  readonly clockOffsetMs: () => number
  /** Sets the clock of the present primary. */
  setClock(offsetMs: number): Promise<void>
  /** As superuser, on the primary. */
  query(text: string): Promise<void>
  /** What the primary is lost to is a crash; `before` runs on the standby that took over, before any node can reach it. */
  promote(options: PromoteOptions): Promise<void>
  /** Once a node has vouched for the history that the promotion began: publishing goes on. */
  untilVouchedFor(): Promise<void>
  /** A new standby, which commits wait for; resolves when losing the primary would lose nothing. */
  addStandby(): Promise<void>
}

export interface PromoteOptions {
  readonly clockOffsetMs: number
  /** SQL that the standby is changed with. */
  readonly plant?: string
  /** Leads the nodes to the new primary. */
  readonly lead: (socketFile: string) => void
}

/** Without limits worth the name: the machine may be busy with other tests. */
const patienceMs = 120_000

export async function startCluster(): Promise<Cluster> {
  const first = await launchPostgres({ settings: { wal_keep_size: '64MB' } })
  let primary: LaunchedPostgres = first
  let standby: LaunchedPostgres | undefined
  let clockOffsetMs = 0

  const query = (text: string): Promise<void> =>
    withClient(primary.url(), async (client) => void (await client.query(text)))
  const addStandby = async (): Promise<void> => {
    standby = await copiedStandby(primary)
    await replicateSynchronously(primary)
  }
  await addStandby()

  return {
    socketFile: () => primary.socketFile,
    clockOffsetMs: () => clockOffsetMs,
    async setClock(offsetMs) {
      await query(clockThatIs(offsetMs))
      clockOffsetMs = offsetMs
    },
    query,
    async promote({ clockOffsetMs: offsetMs, plant = '', lead }) {
      const [lost, next] = [primary, standby]
      if (next === undefined) throw new Error('there is no standby')
      standby = undefined
      await lost.halt('crash')
      await promote(next)
      await withClient(next.url(), (client) => client.query(`${clockThatIs(offsetMs)}; ${plant}`))
      primary = next
      clockOffsetMs = offsetMs
      lead(next.socketFile)
      await rm(dirname(lost.socketFile), { recursive: true, force: true })
    },
    untilVouchedFor: () => becomesTrue(primary, 'SELECT FROM store WHERE incarnation = incarnation()'),
    async addStandby() {
      await addStandby()
      // The first publication that the new standby has got says so in the store.
      await becomesTrue(primary, 'SELECT FROM store WHERE replicated')
    },
    async [Symbol.asyncDispose]() {
      await standby?.halt('crash')
      await primary.halt('crash')
      await first[Symbol.asyncDispose]()
    },
  }
}

/** The functions of the store take the time from here. */
function clockThatIs(offsetMs: number): string {
  return `CREATE OR REPLACE FUNCTION now_ticks() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT (extract(epoch FROM clock_timestamp()) * 10000000)::bigint + ${offsetMs * 10_000} $$`
}

/** Files come and go while they are copied from a server that is written to. */
async function copiedStandby(primary: LaunchedPostgres): Promise<LaunchedPostgres> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await startStandby(primary)
    } catch (error) {
      if (tries === 5) throw error
    }
  }
}

function becomesTrue(server: LaunchedPostgres, condition: string): Promise<void> {
  return withClient(server.url(), (client) => untilRow(client, condition, patienceMs))
}
