/** Begins a run of a file, or continues one that was interrupted. */
import { createHash, randomUUID } from 'node:crypto'
import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeFolder } from '@property-events/server/plain'
import { plainText } from '../terminal-text.ts'
import { lockJournal, noTotals, totalsText } from './journal.ts'
import type { Journal, RunRecord, Totals } from './journal.ts'

export interface Run {
  /** UUID under which the ids of lines are made. */
  readonly run: string
  /** Events up to this line, or in a JSON array this item, were answered earlier; 0 in a new run. */
  readonly acknowledged: number
  /** The totals of those events. */
  readonly totals: Totals
  readonly unit: RunRecord['unit']
  /** It was interrupted, and this is a later part of it. */
  readonly isContinued: boolean
  /** It can be continued after it is stopped. */
  readonly isKept: boolean
  /** The service has answered up to this line or item. `totals` are those of the whole run. */
  acknowledge(position: number, totals: Totals): Promise<void>
  /** All events are answered: the notes are removed. */
  end(): void
  /** Stopped before its end: a later command continues it. */
  close(): void
}

/** A run without notes: of standard input, a dry run, or where the folder cannot be written. */
export function unrecordedRun(unit: Run['unit']): Run {
  return {
    run: randomUUID(),
    acknowledged: 0,
    unit,
    totals: noTotals,
    isContinued: false,
    isKept: false,
    acknowledge: async () => undefined,
    end: () => undefined,
    close: () => undefined,
  }
}

/**
 * Continues the interrupted run of this file to this target, unless it lives in another process; otherwise begins a new
 * one. A new run ends earlier interrupted runs to the same feed: continued later, they would leave out what it has
 * changed. The user is told of all that.
 */
export async function openRun(target: RunTarget, options: RunOptions): Promise<Run> {
  const { folder, isNew, say } = options
  try {
    makeFolder(folder)
    removeStaleJournals(options)
    chmodSync(folder, 0o700)
    const found = isNew ? undefined : findInterrupted(target, options)
    if (found !== undefined) return recordedRun(found, true, options)
    discardInterrupted(target, options)
    const run = randomUUID()
    const journal = lockJournal(join(folder, `${journalNameOf(target)}-${run}.json`))
    if (journal === undefined) throw new Error('a new run is locked')
    const { digest, unit, epoch } = target
    const named = { file: resolve(target.file), digest, unit, epoch }
    const record = { run, ...named, acknowledged: 0, totals: noTotals, writtenMs: options.nowMs }
    await journal.write(record).catch((error: unknown) => {
      journal.end()
      throw error
    })
    return recordedRun({ journal, record }, false, options)
  } catch (error) {
    say(
      `The progress of this run cannot be saved in ${plainText(folder)} (${reasonOf(error)}), so it cannot be continued ` +
        'if it is interrupted: the same command then starts a new run. XDG_STATE_HOME sets another folder.',
    )
    return unrecordedRun(target.unit)
  }
}

/** Piped events are a new run as well: earlier interrupted runs to the same feed end. */
export function supersedeInterrupted(target: FeedTarget, options: RunOptions): void {
  try {
    discardInterrupted(target, options)
  } catch {
    // Where the folder cannot be read, there are no notes, or none that would be found.
  }
}

function recordedRun({ journal, record }: LockedRun, isContinued: boolean, { folder, say }: RunOptions): Run {
  let hasWarned = false
  return {
    run: record.run,
    acknowledged: record.acknowledged,
    unit: record.unit,
    totals: record.totals,
    isContinued,
    isKept: true,
    async acknowledge(position, totals) {
      try {
        await journal.write({ ...record, acknowledged: position, totals, writtenMs: Date.now() })
      } catch (error) {
        // The earlier notes stay true: later lines would come back as repeats.
        if (!hasWarned)
          say(`The progress of this run cannot be saved in ${plainText(folder)} (${reasonOf(error)}).`)
        hasWarned = true
      }
    },
    end: () => journal.end(),
    close: () => journal.close(),
  }
}

function reasonOf(error: unknown): string {
  return plainText(error instanceof Error ? error.message : String(error))
}

/** Where a run publishes to. */
interface FeedTarget {
  /** Address of the service. */
  readonly service: string
  readonly feed: string
}

/** What a run publishes, and where to. */
interface RunTarget extends FeedTarget {
  /** Path of the file. */
  readonly file: string
  readonly digest: string
  /** The unit in which its events are counted. */
  readonly unit: RunRecord['unit']
  /** The feed's epoch now; '' if the service does not say. */
  readonly epoch: string
  /** What else makes it another run if it differs: the key, how unchanged events are treated, how the file is read. */
  readonly particulars: readonly string[]
}

export interface RunOptions {
  /** The folder of journals. Created if it is missing. */
  readonly folder: string
  /** Begin a new run even if one was interrupted. */
  readonly isNew: boolean
  /** A sentence for the user. */
  readonly say: (sentence: string) => void
  readonly nowMs: number
}

/**
 * A nightly file comes after a day, and one that equals the previous file is news again if something else was published in between. So an
 * interrupted run is continued within half a day; after that, the file is published as a new run.
 */
const continueWithinMs = 12 * 3_600_000

/** Journals that nobody has returned to are removed after this time. */
const staleAfterMs = 30 * 86_400_000

/** A run that this process holds, and its notes. */
interface LockedRun {
  readonly journal: Journal
  readonly record: RunRecord
}

/**
 * The youngest run of this target that was interrupted, to continue; the user is told its progress. Others of the same
 * target end. `undefined`: there is none, none can be read, or it was too long ago.
 */
function findInterrupted(target: RunTarget, { folder, say, nowMs }: RunOptions): LockedRun | undefined {
  const cut: LockedRun[] = []
  for (const journal of unlockedJournals(folder, journalNameOf(target))) {
    const record = journal.read()
    const isReadable = record !== undefined && record !== 'damaged' && record.digest === target.digest
    const isRestored = isReadable && record.epoch !== target.epoch
    if (isReadable && !isRestored && nowMs - record.writtenMs <= continueWithinMs) {
      cut.push({ journal, record })
      continue
    }
    journal.end()
    // Another process has taken it.
    if (record === undefined) continue
    const file = plainText(target.file)
    say(
      isRestored
        ? `A run of ${file} was interrupted ${ageOf(record, nowMs)} ${progressText(record)}. The feed has started a new epoch since, as after a restore from a backup, and may have lost what it acknowledged then: starting a new run.`
        : isReadable
          ? `A run of ${file} was interrupted ${ageOf(record, nowMs)} ${progressText(record)}. That is too long ago to continue it: starting a new run.`
          : `The saved progress of an interrupted run of ${file} cannot be read: starting a new run.`,
    )
  }
  // Of several interrupted runs of one file, continuing the youngest publishes the rest of all of them.
  const [youngest, ...older] = cut.toSorted((a, b) => b.record.writtenMs - a.record.writtenMs)
  for (const { journal } of older) journal.end()
  if (youngest === undefined) return undefined
  const { record } = youngest
  const before = record.acknowledged === 0 ? '' : ` Until then: ${totalsText(record.totals)}.`
  say(
    `Continuing the run of ${plainText(target.file)} that was interrupted ${ageOf(record, nowMs)} ${progressText(record)}.${before} ` +
      '--new-run starts a new one.',
  )
  return youngest
}

/**
 * Ends all runs to the feed that were cut off, because a run of the target begins, or one of standard input, which has
 * neither file nor digest. The user is told of those that had published something.
 */
function discardInterrupted(
  target: FeedTarget & Partial<RunTarget>,
  { folder, say, nowMs, isNew }: RunOptions,
): void {
  const { file, digest } = target
  for (const journal of unlockedJournals(folder, feedJournalsOf(target))) {
    const record = journal.read()
    journal.end()
    if (record === undefined || record === 'damaged' || record.acknowledged === 0) continue
    if (isNew && record.digest === digest) continue
    const isSamePath = file !== undefined && record.file === resolve(file)
    say(
      isSamePath
        ? `${plainText(file)} has changed since a run of it was interrupted ${ageOf(record, nowMs)} ${progressText(record)}: starting a new run.`
        : `A run of ${plainText(record.file)} was interrupted ${ageOf(record, nowMs)} ${progressText(record)}, and this one starts after it: ` +
            'publish that file again if the rest of it is still valid.',
    )
  }
}

/** Journals with this name that no living run holds. */
function* unlockedJournals(folder: string, name: string): Generator<Journal> {
  const files = readdirSync(folder).filter((file) => file.startsWith(`${name}-`) && file.endsWith('.json'))
  for (const file of files) {
    const journal = lockJournal(join(folder, file))
    if (journal !== undefined) yield journal
  }
}

/** Removes journals that were not used for a month. */
function removeStaleJournals({ folder, nowMs }: RunOptions): void {
  for (const file of readdirSync(folder)) {
    const path = join(folder, file)
    const { mtimeMs = nowMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (nowMs - mtimeMs < staleAfterMs) continue
    if (file.endsWith('.json')) lockJournal(path)?.end()
    else if (/\.json\.(new|lock|lock-journal)$/.test(file)) rmSync(path, { force: true })
  }
}

/**
 * The beginning of the names of journals for all runs of one file to one feed. The names reveal nothing about either.
 */
function journalNameOf(target: RunTarget): string {
  return `${feedJournalsOf(target)}-${shortHash([target.digest, ...target.particulars])}`
}

/** The same for all runs to one feed. */
function feedJournalsOf({ service, feed }: FeedTarget): string {
  return shortHash([service, feed])
}

function shortHash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)
}

function progressText({ acknowledged, unit }: RunRecord): string {
  return acknowledged === 0
    ? 'before the service had answered'
    : `after ${unit} ${acknowledged.toLocaleString('en-GB')}`
}

const agesSeconds = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

function ageOf({ writtenMs }: RunRecord, nowMs: number): string {
  const seconds = Math.max(1, Math.round((nowMs - writtenMs) / 1000))
  const [unit, length] = agesSeconds.find(([, length]) => seconds >= length) ?? ['second', 1]
  const count = Math.floor(seconds / length)
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`
}
