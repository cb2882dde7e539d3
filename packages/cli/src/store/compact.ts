/** Brings erasures from `unreachable` to `overwritten`: rewrites the store, now or every day (docs/decisions/0030). */
import { readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { compactStore } from '@property-events/server'
import type { Compaction } from '@property-events/server'
import type { Command } from 'commander'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { errorMessage } from '../error-message.ts'
import { addNote } from '../help/help-text.ts'
import { changeSettings, withStore } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import { Refusal } from '../refusal.ts'
import { addSettings } from '../settings/read-settings.ts'
import { settings } from '../settings/settings.ts'
import { stopSignal } from '../stop-signal.ts'
import { plainText } from '../terminal-text.ts'

export function addCompact(program: Command, context: CommandContext): void {
  const command = program
    .command('compact')
    .description('rewrite the store, so that its free space contains no erased data')
    .option('--always', 'rewrite the store even if no erasure is waiting for it')
    .option(
      '--schedule <time>',
      'do it every day at this time (UTC), such as 02:30, until stopped by a signal',
    )
  addNote(
    command,
    'Works while nodes are serving. Publishing waits until it is done, and on PostgreSQL so does reading, except for cached pages: ' +
      'about a second for each 50 MB. A data folder needs free space for two more copies of the store, a database for one. ' +
      'On a database, the role must own the tables and the database. Backups, archives of the write-ahead log and ' +
      'lagging standbys keep what they have.',
  )
  addSettings(command, changeSettings)
  addAction(command, context, async (invocation) => {
    const { output, settings: reader, flags } = invocation
    const written = flagText(flags, 'schedule')
    const always = flags['always'] === true
    if (written === undefined) return report(invocation, await compactOnce(invocation, always))
    const time = dailyTimeOf(written)
    if (time === undefined)
      reader.fault(
        `--schedule is "${plainText(written.slice(0, 100))}", but must be a time of day such as 02:30.`,
      )
    if (time === undefined || always) {
      if (always) reader.fault('--always rewrites the store at once, --schedule every day: use one of them.')
      return reader.finish()
    }
    // Its faults and a missing store end the command at once, and not at night.
    await withStore(reader, flags, async () => undefined)
    output.say(`The store will be rewritten every day at ${written} UTC if erasures are waiting.`)
    await runDaily(time, stopSignal(), async () => {
      try {
        await report(invocation, await compactOnce(invocation, false))
      } catch (error) {
        output.say(errorMessage(error))
      }
    })
  })
}

interface CompactionReport {
  readonly compaction: Compaction
  readonly tookMs: number
  /** Names of files in the data folder that do not belong to the service, such as backups. */
  readonly foreignFiles: readonly string[]
}

function compactOnce({ settings: reader, flags }: Invocation, always: boolean): Promise<CompactionReport> {
  // Where SQLite puts the temporary copy: beside the store, where only its owner looks, and not on a small /tmp.
  const folder = reader.value(settings.data)
  process.env['SQLITE_TMPDIR'] ??= isFile(folder) ? dirname(folder) : folder
  return withStore(reader, flags, async (store) => {
    const waits = always || (await store.storage.erasures.waiting()).length > 0
    if (waits && store.database === undefined) prepareFolder(store)
    const begunMs = performance.now()
    const compaction = await compactStore(store.storage, store.actor, { always })
    const foreignFiles = store.database === undefined ? foreignFilesIn(store.folder) : []
    return { compaction, tookMs: Math.round(performance.now() - begunMs), foreignFiles }
  })
}

/** SQLite writes the new file first to a temporary one and then to the log, each as large as what the store holds. */
function prepareFolder({ folder }: OpenedStore): void {
  const file = isFile(folder) ? folder : join(folder, 'property-events.db')
  const neededBytes = 2.1 * statSync(file).size
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize < neededBytes) {
    throw new Refusal(
      `Rewriting the store needs ${megabytes(neededBytes)} MB free for a while, and ${folder} has ${megabytes(bavail * bsize)} MB. Nothing was changed.`,
    )
  }
}

const ownFiles =
  /^(property-events\.db(-wal|-shm)?|pepper(\.old)?|sealed-pages(\.index)?|serve\.(lock(-journal)?|json)|demo-(keys|consumers)\.json)$/

/** A backup that was made there still has its contents. */
function foreignFilesIn(folder: string): readonly string[] {
  return isFile(folder) ? [] : readdirSync(folder).filter((name) => !ownFiles.test(name))
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function megabytes(bytes: number): string {
  return Math.ceil(bytes / 1e6).toLocaleString('en-GB')
}

async function report(
  { output }: Invocation,
  { compaction, tookMs, foreignFiles }: CompactionReport,
): Promise<void> {
  const isDone = compaction.kind === 'compacted'
  const overwritten = isDone ? compaction.waited.length : 0
  if (output.json)
    return output.writeJson({ compacted: isDone, overwritten, tookMs, otherFiles: foreignFiles })
  if (!isDone) {
    return output.write(
      'No erasure is waiting to be overwritten, so nothing was done (--always rewrites the store anyway).\n',
    )
  }
  const named = foreignFiles.slice(0, 10).map((name) => plainText(name))
  const rest = foreignFiles.length > named.length ? ` and ${foreignFiles.length - named.length} more` : ''
  await output.write(
    `Rewrote the store in ${(tookMs / 1000).toFixed(1)} s. ${overwritten === 1 ? '1 erasure is' : `${overwritten} erasures are`} now overwritten: the free space of the store contains no erased data.\n` +
      'Backups and other copies still contain it; the receipts (`erasures show`) list them.\n' +
      (named.length === 0
        ? ''
        : `Other files in the data folder were not touched: ${named.join(', ')}${rest}.\n`),
  )
}

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** The clock may be set, and the machine may sleep, so the time is checked at least this often. */
const sleepAtMostMs = 10 * minuteMs

/** Milliseconds after midnight for `HH:MM`; `undefined`: not a time of day. */
export function dailyTimeOf(text: string): number | undefined {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  return hours === undefined ? undefined : (Number(hours) * 60 + Number(minutes)) * minuteMs
}

/** The first such moment after the given one; milliseconds since 1970. */
export function nextDaily(timeMs: number, nowMs: number): number {
  const today = nowMs - (nowMs % dayMs) + timeMs
  return today > nowMs ? today : today + dayMs
}

interface DailyClock {
  readonly nowMs: () => number
  /** Resolves after this time, or at once when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

const machineClock: DailyClock = {
  nowMs: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
}

/** Resolves when the signal is aborted, after the task under way. A moment missed while the machine slept is made up for at once. */
export async function runDaily(
  timeMs: number,
  signal: AbortSignal,
  run: () => Promise<void>,
  { nowMs, sleep }: DailyClock = machineClock,
): Promise<void> {
  let due = nextDaily(timeMs, nowMs())
  while (!signal.aborted) {
    const leftMs = due - nowMs()
    if (leftMs > 0) await sleep(Math.min(leftMs, sleepAtMostMs), signal)
    else {
      await run()
      due = nextDaily(timeMs, nowMs())
    }
  }
}
