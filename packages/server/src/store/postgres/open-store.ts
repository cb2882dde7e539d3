/** From a database's address to a store with the requested schema and settings. */
import { setTimeout as delay } from 'node:timers/promises'
import { catalogueFault } from '@property-events/protocol'
import type { EventTypeCatalogue } from '@property-events/protocol'
import { catalogueText, settingsRefusal } from '../settings.ts'
import type { NewSettings, RequestedSettings } from '../settings.ts'
import { StorageFailure, StorageRefusal } from '../../sql/storage-errors.ts'
import type { StoreSettings } from '../storage.ts'
import { connect, isConnectionLoss } from '../../sql/postgres/connection.ts'
import { failureOf } from '../../sql/postgres/failure.ts'
import { migrate } from './migrate.ts'
import type { Session, Statement } from '../../sql/postgres/session.ts'
import type { FillStore } from './migrate.ts'
import { standbyText } from '../../sql/postgres/pool.ts'

/** Rejects with a `StorageRefusal` or a `StorageFailure`. A refused database is left as it was. */
export async function openStore(
  url: string,
  create: boolean,
  wanted: RequestedSettings,
  onWaiting?: (reason: string) => void,
): Promise<StoreSettings> {
  if (!/^postgres(ql)?:\/\//.test(url)) {
    throw new StorageRefusal(
      'not_a_store',
      'The address of a database begins with postgres:// or postgresql://.',
    )
  }
  const database = connect({ url, readConnections: 1 })
  try {
    const { catalogue, startSequence = 0 } = wanted
    const fill =
      create && catalogue !== undefined ? fillWithSettings({ catalogue, startSequence }) : undefined
    await migrate(database, fill, { onWaiting })
    const recorded = await database.write(readSettings)
    const refusal = settingsRefusal(recorded, wanted)
    if (refusal !== undefined) throw refusal
    return recorded
  } catch (error) {
    throw failureOf(error)
  } finally {
    await database.close()
  }
}

const insert: Statement = {
  name: 'store-insert',
  text: `INSERT INTO store (store_id, schema_version, catalogue, start_sequence, first_offset, needs_epoch, incarnation,
      replicated)
    VALUES (gen_random_uuid(), 1, $1, $2, $2, false, incarnation(), commits_are_replicated())`,
}

const select: Statement = {
  name: 'store-settings',
  text: 'SELECT store_id, catalogue, start_sequence FROM store',
}

/** A new store with nothing but its settings. */
export function fillWithSettings({ catalogue, startSequence }: NewSettings): FillStore {
  return async (session) => {
    await session.query(insert, [catalogueText(catalogue), startSequence])
  }
}

async function readSettings(session: Session): Promise<StoreSettings> {
  const [row] = await session.query<{ store_id: string; catalogue: string; start_sequence: string }>(
    select,
    [],
  )
  if (row === undefined) throw new Error('the store has no settings')
  const catalogue: EventTypeCatalogue = JSON.parse(row.catalogue)
  const fault = catalogueFault(catalogue)
  if (fault !== undefined) throw new Error(`the store's catalogue is damaged: ${fault}`)
  return { storeId: row.store_id, catalogue, startSequence: Number(row.start_sequence) }
}

/** Waits for a database that is away: it is starting, restarting, or is a standby that is being promoted. */
interface Patience {
  /** From the first try on. */
  readonly waitMs: number
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined
  /** Called once, with a sentence for the log, when the wait begins. */
  readonly onWaiting?: ((reason: string) => void) | undefined
}

const longestPauseMs = 2_000

/** The final result of `open`: it is retried while the database is away, until the time is over. */
export async function untilReached<T>(open: () => Promise<T>, patience: Patience): Promise<T> {
  const { waitMs, signal, onWaiting } = patience
  const untilMs = performance.now() + waitMs
  for (let tries = 1; ; tries += 1) {
    try {
      return await open()
    } catch (error) {
      const leftMs = untilMs - performance.now()
      if (!isAway(error) || leftMs <= 0 || signal?.aborted === true) throw error
      if (tries === 1)
        onWaiting?.(`${awayText(error)}: waiting for it, up to ${Math.round(waitMs / 1_000)} s.`)
      const pauseMs = Math.min(leftMs, longestPauseMs, 100 * 2 ** tries)
      await delay(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
    }
  }
}

/** A name that is not known yet, as while containers start, and a server that has no connection left. */
const passingCodes = /^(ENOTFOUND|EAI_AGAIN|53300)$/

/** Whether waiting may help: it does not against a wrong password, or for a database that does not exist. */
function isAway(error: unknown): boolean {
  if (!(error instanceof StorageFailure) || !(error.cause instanceof Error)) return false
  const { cause } = error
  const code = 'code' in cause ? String(cause.code) : ''
  return isConnectionLoss(cause) || passingCodes.test(code) || cause.message === standbyText
}

function awayText(error: unknown): string {
  const cause = error instanceof StorageFailure && error.cause instanceof Error ? error.cause : undefined
  // If several addresses were tried, each error says what is wrong with it, and the whole says nothing.
  const [first] = cause instanceof AggregateError ? cause.errors : [cause]
  const reason = first instanceof Error ? first.message : String(first)
  return `The database cannot be used (${reason})`
}
