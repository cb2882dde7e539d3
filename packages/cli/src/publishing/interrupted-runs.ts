/** Interrupted runs: finds the one to continue, and ends those that are over. */
import { createHash } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { plainText } from '../terminal-text.ts'
import { holdJournal } from './journal.ts'
import type { Journal, RunRecord } from './journal.ts'
import { totalsText } from './totals.ts'

/** Where a run publishes to. */
export interface FeedTarget {
  /** Address of the service. */
  readonly service: string
  readonly feed: string
}

/** What a run publishes, and where to. */
export interface RunTarget extends FeedTarget {
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
const goOnWithinMs = 12 * 3_600_000
/** Journals that nobody has returned to are removed after this time. */
const keptMs = 30 * 86_400_000

/** A run that this process holds, and its notes. */
export interface HeldRun {
  readonly journal: Journal
  readonly record: RunRecord
}

/**
 * The youngest run of this target that was cut off, to continue; the user is told its progress. Others of the same
 * target end. `undefined`: there is none, none can be read, or it was too long ago.
 */
export function findCut(target: RunTarget, { folder, say, nowMs }: RunOptions): HeldRun | undefined {
  const cut: HeldRun[] = []
  for (const journal of heldJournals(folder, journalNameOf(target))) {
    const record = journal.read()
    const isReadable = record !== undefined && record !== 'damaged' && record.digest === target.digest
    const isRestored = isReadable && record.epoch !== target.epoch
    if (isReadable && !isRestored && nowMs - record.writtenMs <= goOnWithinMs) {
      cut.push({ journal, record })
      continue
    }
    journal.end()
    // Another process has taken it.
    if (record === undefined) continue
    const file = plainText(target.file)
    say(
      isRestored
        ? `A run of ${file} was cut off ${ageOf(record, nowMs)} ${placeOf(record)}. The feed has begun another epoch since, as after a restore from a backup, and may have lost what it acknowledged then: a new run begins.`
        : isReadable
          ? `A run of ${file} was cut off ${ageOf(record, nowMs)} ${placeOf(record)}. That is too long ago to continue it: a new run begins.`
          : `The notes of a run of ${file} that was cut off cannot be read: a new run begins.`,
    )
  }
  // Of several interrupted runs of one file, continuing the youngest publishes the rest of all of them.
  const [youngest, ...older] = cut.toSorted((a, b) => b.record.writtenMs - a.record.writtenMs)
  for (const { journal } of older) journal.end()
  if (youngest === undefined) return undefined
  const { record } = youngest
  const before = record.acknowledged === 0 ? '' : ` Until then: ${totalsText(record.totals)}.`
  say(
    `Continuing the run of ${plainText(target.file)} that was cut off ${ageOf(record, nowMs)} ${placeOf(record)}.${before} ` +
      '--new-run begins a new one.',
  )
  return youngest
}

/**
 * Ends all runs to the feed that were cut off, because a run of the target begins, or one of standard input, which has
 * neither file nor digest. The user is told of those that had published something.
 */
export function discardCut(
  target: FeedTarget & Partial<RunTarget>,
  { folder, say, nowMs, isNew }: RunOptions,
): void {
  const { file, digest } = target
  for (const journal of heldJournals(folder, feedJournalsOf(target))) {
    const record = journal.read()
    journal.end()
    if (record === undefined || record === 'damaged' || record.acknowledged === 0) continue
    if (isNew && record.digest === digest) continue
    const isSamePath = file !== undefined && record.file === resolve(file)
    say(
      isSamePath
        ? `${plainText(file)} has changed since a run of it was cut off ${ageOf(record, nowMs)} ${placeOf(record)}: a new run begins.`
        : `A run of ${plainText(record.file)} was cut off ${ageOf(record, nowMs)} ${placeOf(record)}, and this one begins after it: ` +
            'publish that file again if the rest of it is still valid.',
    )
  }
}

/** Journals with this name that no living run holds. */
function* heldJournals(folder: string, name: string): Generator<Journal> {
  const files = readdirSync(folder).filter((file) => file.startsWith(`${name}-`) && file.endsWith('.json'))
  for (const file of files) {
    const journal = holdJournal(join(folder, file))
    if (journal !== undefined) yield journal
  }
}

/** Removes journals that were not used for a month. */
export function removeForgotten({ folder, nowMs }: RunOptions): void {
  for (const file of readdirSync(folder)) {
    const path = join(folder, file)
    const { mtimeMs = nowMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (nowMs - mtimeMs < keptMs) continue
    if (file.endsWith('.json')) holdJournal(path)?.end()
    else if (/\.json\.(new|lock|lock-journal)$/.test(file)) rmSync(path, { force: true })
  }
}

/**
 * The beginning of the names of journals for all runs of one file to one feed. The names reveal nothing about either.
 */
export function journalNameOf(target: RunTarget): string {
  return `${feedJournalsOf(target)}-${shortHash([target.digest, ...target.particulars])}`
}

/** The same for all runs to one feed. */
function feedJournalsOf({ service, feed }: FeedTarget): string {
  return shortHash([service, feed])
}

function shortHash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)
}

function placeOf({ acknowledged, unit }: RunRecord): string {
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
