/** `sync --keys`: many tenants in one set of tables, in one process. */
import {
  createClient,
  MassRemovalError,
  NetworkError,
  PropertyEventsError,
  ServiceError,
} from '@property-events/client'
import type { Client, SyncResult } from '@property-events/client'
import { keepTables, openTables } from '@property-events/tables'
import type { CopyKeeper, ListingTables, TableTarget, TablesOptions } from '@property-events/tables'
import { TablesAway } from '@property-events/tables/refusal'
import type { Output } from '../output.ts'
import { Refusal } from '../refusal.ts'
import { errorMessage } from '../error-message.ts'
import { retryHere } from '../service-client.ts'
import { stopSignal } from '../stop-signal.ts'
import { plainText, shellWord, tableText } from '../terminal-text.ts'
import { readKeysFile } from './keys-file.ts'
import type { TenantKey } from './keys-file.ts'
import { oddSentence, readAgainSentence, removalRefusal, resyncSentence } from './run-sync.ts'
import { runRoundRobin } from './round-robin.ts'

interface TenantsRun {
  readonly output: Output
  readonly baseUrl: string
  /** What the keys are used for here. */
  readonly consumer: string | undefined
  readonly keysFile: string
  /** This tenant of the file alone. */
  readonly only: string | undefined
  readonly target: TableTarget
  readonly tables: TablesOptions
  readonly type: string | undefined
  readonly category: 'sales' | 'lettings' | undefined
  readonly follow: boolean
  readonly allowMassRemoval: boolean
  readonly concurrency: number
}

/** Subjects in a batch: several tenants have one in memory at the same time. */
const batchSize = 250

/** Attempts of a request in one task: the tenant's next task is another attempt. */
const attemptsPerTask = 3
const firstWaitMs = 5_000
const longestWaitMs = 600_000

interface Tenant {
  readonly name: string
  readonly client: Client
  readonly keeper: CopyKeeper
  readonly counts: { events: number; changes: number; removals: number }
  /** When its listings were last up to date. */
  caughtUpMs: number | undefined
  /** Why its last task failed. */
  failure: string | undefined
}

/** Resolves to whether every tenant is up to date or, following, was stopped by a signal. */
export async function syncTenants(run: TenantsRun): Promise<boolean> {
  const { output } = run
  const { tenants: keys, isOpen } = readKeysFile(run.keysFile)
  const chosen = run.only === undefined ? keys : keys.filter(({ name }) => name === run.only)
  if (chosen.length === 0) {
    throw new Refusal(`${plainText(run.keysFile)} has no line for the tenant "${plainText(run.only ?? '')}".`)
  }
  if (isOpen)
    output.say(
      `Others can read ${plainText(run.keysFile)}, which has keys in it: chmod 600 ${shellWord(run.keysFile)}`,
    )
  const signal = stopSignal()
  const tables = await openTables(run.target, run.tables)
  const tenants = new Map(chosen.map((key) => [key.name, tenantOf(key, tables, run)]))
  try {
    await syncAll(tenants, run, signal)
    await report(output, [...tenants.values()], Date.now())
  } finally {
    await tables.close()
  }
  const upToDate = [...tenants.values()].every(isUpToDate)
  return upToDate || (run.follow && signal.aborted)
}

function isUpToDate({ caughtUpMs, failure }: Tenant): boolean {
  return caughtUpMs !== undefined && failure === undefined
}

async function syncAll(
  tenants: ReadonlyMap<string, Tenant>,
  run: TenantsRun,
  signal: AbortSignal,
): Promise<void> {
  const { output } = run
  const failures = failureReporter(output)
  await runRoundRobin({
    names: [...tenants.keys()],
    follow: run.follow,
    concurrency: run.concurrency,
    signal,
    async task(name) {
      const tenant = tenants.get(name)
      if (tenant === undefined) return false
      const hasChanged = await syncTenant(tenant, run, signal)
      failures.worked(tenant)
      output.progress(output.showsProgress ? progressLine([...tenants.values()]) : '')
      return hasChanged
    },
    onFailure(name, error, count) {
      const tenant = tenants.get(name)
      if (tenant !== undefined) failures.failed(tenant, error)
      return run.follow ? waitAfter(error, count) : undefined
    },
  })
  output.progress('')
}

function tenantOf({ name, key }: TenantKey, tables: ListingTables, run: TenantsRun): Tenant {
  const retry = run.follow ? { attempts: attemptsPerTask } : (retryHere().retry ?? {})
  const consumer = run.consumer === undefined ? {} : { consumer: run.consumer }
  return {
    name,
    client: createClient({ baseUrl: run.baseUrl, key, retry, ...consumer }),
    keeper: keepTables({
      tables,
      tenant: name,
      category: run.category,
      onReadAgain: (reason) => run.output.say(`${name}: ${readAgainSentence(reason)}`),
      onSkipped: (count) =>
        run.output.say(
          `${name}: ${count} listings have references of more than 200 characters; they are not in the tables.`,
        ),
    }),
    counts: { events: 0, changes: 0, removals: 0 },
    caughtUpMs: undefined,
    failure: undefined,
  }
}

async function syncTenant(tenant: Tenant, run: TenantsRun, signal: AbortSignal): Promise<boolean> {
  const { keeper, counts, name } = tenant
  const result: SyncResult = await tenant.client.sync({
    checkpoint: keeper.checkpoint,
    copy: keeper.copy,
    ...(run.type === undefined ? {} : { apiEventType: run.type }),
    allowMassRemoval: run.allowMassRemoval,
    batchSize,
    signal,
    onResync: (reason) => run.output.say(`${name}: ${resyncSentence(reason)}`),
    onOdd: (event) => run.output.say(`${name}: ${oddSentence(event)}`),
    apply: (batch) => keeper.apply(batch),
    async onCaughtUp() {
      await keeper.keep(false)
      tenant.caughtUpMs = Date.now()
    },
  })
  counts.events += result.events
  counts.changes += result.changes
  counts.removals += result.removals
  return result.changes > 0
}

/** Doubles from 5 s to 10 minutes; as long as the service asks for, if that is more. */
function waitAfter(error: unknown, count: number): number {
  const retryAfterMs = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0
  return Math.max(retryAfterMs, Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(20, count - 1)))
}

/** Says once what has gone wrong and once that it works again: of each tenant, and of what all of them use. */
function failureReporter(output: Output) {
  /** The service or the database does not answer: every tenant fails in the same way. */
  let common: string | undefined
  return {
    worked(tenant: Tenant) {
      if (common !== undefined) output.say('It works again.')
      common = undefined
      if (tenant.failure === undefined) return
      output.say(`${tenant.name}: up to date again.`)
      tenant.failure = undefined
    },
    failed(tenant: Tenant, error: unknown) {
      const sentence = failureMessage(error, tenant.name)
      if (isCommon(error)) {
        if (common === undefined) output.say(sentence)
        common = sentence
      } else if (tenant.failure !== sentence) output.say(`${tenant.name}: ${sentence}`)
      tenant.failure = sentence
    },
  }
}

function isCommon(error: unknown): boolean {
  return error instanceof TablesAway || (error instanceof NetworkError && error.again !== 'never')
}

function failureMessage(error: unknown, name: string): string {
  if (error instanceof MassRemovalError) return removalRefusal(error, ` --tenant ${name}`).message
  if (error instanceof PropertyEventsError && error.code === 'aborted') return 'Stopped.'
  return errorMessage(error)
}

function progressLine(tenants: readonly Tenant[]): string {
  const number = (value: number) => value.toLocaleString('en-GB')
  const upToDate = tenants.filter(isUpToDate)
  const failing = tenants.filter(({ failure }) => failure !== undefined).length
  return `${number(upToDate.length)} of ${number(tenants.length)} tenants up to date${failing === 0 ? '' : ` · ${number(failing)} failing`}`
}

/** More rows than this are for machines; for people those that fail remain. */
const maxRows = 50

async function report(output: Output, tenants: readonly Tenant[], nowMs: number): Promise<void> {
  const rows = await Promise.all(
    tenants.map(async ({ name, keeper, counts, caughtUpMs, failure }) => ({
      tenant: name,
      ...counts,
      removed: keeper.counts.removed,
      held: failure === undefined ? await keeper.copy.count() : null,
      caughtUpAt: caughtUpMs === undefined ? null : new Date(caughtUpMs).toISOString(),
      lagMs: caughtUpMs === undefined ? null : nowMs - caughtUpMs,
      failure: failure ?? null,
    })),
  )
  const failed = rows.filter(({ failure }) => failure !== null).length
  if (output.json) return output.writeJson({ tenants: rows, failed })
  const shown =
    rows.length <= maxRows
      ? rows
      : rows.filter(({ failure, caughtUpAt }) => failure !== null || caughtUpAt === null)
  // What was never in the tables was not removed from them: of a first sync that is every removal in the feed.
  const cells = shown.map(({ tenant, held, events, changes, removals, removed, lagMs, failure }) => [
    tenant,
    held === null ? '?' : held.toLocaleString('en-GB'),
    events.toLocaleString('en-GB'),
    (changes - removals).toLocaleString('en-GB'),
    removed.toLocaleString('en-GB'),
    lagMs === null ? 'never up to date' : `${Math.round(lagMs / 1_000)} s`,
    failure === null ? '' : 'failing',
  ])
  const head = ['tenant', 'listings', 'read', 'written', 'removed', 'lag', '']
  const whole = `${(rows.length - failed).toLocaleString('en-GB')} of ${rows.length.toLocaleString('en-GB')} tenants without failures\n`
  return output.write((cells.length === 0 ? '' : tableText(head, cells)) + whole)
}
