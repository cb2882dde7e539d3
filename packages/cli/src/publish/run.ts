/** Beginning a run of a file, or going on with one that was cut off. */
import { createHash, randomUUID } from 'node:crypto'
import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeFolder } from '@property-events/server'
import { plainText } from '../terminal-text.ts'
import { holdJournal } from './journal.ts'
import type { Journal, RunRecord } from './journal.ts'
import { noTotals, totalsText } from './totals.ts'
import type { Totals } from './totals.ts'

/** What a run publishes, and where to. */
export interface RunTarget {
  /** Path of the file. */
  readonly file: string
  readonly digest: string
  /** Address of the service. */
  readonly service: string
  readonly feed: string
  /** What else makes it another run when it differs: whose key, how unchanged events are treated, how the file is read. */
  readonly particulars: readonly string[]
}

export interface RunOptions {
  /** Where journals lie. Made if it is missing. */
  readonly folder: string
  /** Begin anew whatever was cut off. */
  readonly isNew: boolean
  /** A sentence for the user. */
  readonly say: (sentence: string) => void
  readonly nowMs: number
}

export interface Run {
  /** UUID under which the ids of lines are made. */
  readonly run: string
  /** Lines up to this one were answered before; 0 in a new run. */
  readonly acknowledged: number
  /** Of those lines. */
  readonly totals: Totals
  /** It was cut off, and this is a later part of it. */
  readonly isGoneOnWith: boolean
  /** It can be gone on with when it is stopped. */
  readonly isKept: boolean
  /** The service has answered up to this line. `totals` are those of the whole run. */
  acknowledge(line: number, totals: Totals): Promise<void>
  /** All is answered: nothing of it stays. */
  end(): void
  /** Stopped before its end: a later one goes on with it. */
  close(): void
}

/**
 * A nightly file comes after a day, and one that equals the file of the night before is news again when something else was
 * published in between: so a cut is mended within half a day, and after that the file is published anew.
 */
const goOnWithinMs = 12 * 3_600_000
/** What nobody has come back for is removed after this time. */
const keptMs = 30 * 86_400_000

/** A run that nothing is written down of: of standard input, of a trial, or where nothing can be written. */
export function unkeptRun(): Run {
  return {
    run: randomUUID(),
    acknowledged: 0,
    totals: noTotals,
    isGoneOnWith: false,
    isKept: false,
    acknowledge: async () => undefined,
    end: () => undefined,
    close: () => undefined,
  }
}

/**
 * Goes on with the run of this very file to this very place that was cut off, unless it lives in another process; otherwise begins
 * a new one. A run that begins is news, so those to the same feed that were cut off before it are over: gone on with later,
 * they would leave out what it has changed. The user is told of all that.
 */
export async function openRun(target: RunTarget, options: RunOptions): Promise<Run> {
  const { folder, isNew, say } = options
  try {
    makeFolder(folder)
    removeForgotten(options)
    chmodSync(folder, 0o700)
    const found = isNew ? undefined : findCut(target, options)
    if (found !== undefined) return keptRun(found, true, options)
    discardCut(target, options)
    const run = randomUUID()
    const journal = holdJournal(join(folder, `${nameOf(target)}-${run}.json`))
    if (journal === undefined) throw new Error('a new run is locked')
    const { file, digest } = target
    const record = {
      run,
      file: resolve(file),
      digest,
      acknowledged: 0,
      totals: noTotals,
      writtenMs: options.nowMs,
    }
    await journal.write(record)
    return keptRun({ journal, record }, false, options)
  } catch (error) {
    say(
      `What has been published cannot be noted in ${plainText(folder)} (${reasonOf(error)}), so this run cannot be gone on with ` +
        'if it is cut off: started again it is a new one. XDG_STATE_HOME names another folder.',
    )
    return unkeptRun()
  }
}

/** Piped events are news as well: runs to the same feed that were cut off before are over. */
export function supersedeCutRuns(target: Pick<RunTarget, 'service' | 'feed'>, options: RunOptions): void {
  try {
    discardCut({ ...target, file: '', digest: '', particulars: [] }, options)
  } catch {
    // Where nothing can be read nothing was noted, or nobody will find it.
  }
}

function keptRun({ journal, record }: Found, isGoneOnWith: boolean, { folder, say }: RunOptions): Run {
  let isTold = false
  return {
    run: record.run,
    acknowledged: record.acknowledged,
    totals: record.totals,
    isGoneOnWith,
    isKept: true,
    async acknowledge(line, totals) {
      try {
        await journal.write({ ...record, acknowledged: line, totals, writtenMs: Date.now() })
      } catch (error) {
        // What was noted before stays true: lines after it would come back as repeats.
        if (!isTold) say(`How far it has come cannot be noted in ${plainText(folder)} (${reasonOf(error)}).`)
        isTold = true
      }
    },
    end: () => journal.end(),
    close: () => journal.close(),
  }
}

interface Found {
  readonly journal: Journal
  readonly record: RunRecord
}

/** The youngest run of this target that was cut off; the user is told how far it came. */
function findCut(target: RunTarget, { folder, say, nowMs }: RunOptions): Found | undefined {
  const cut: Found[] = []
  for (const journal of heldJournals(folder, nameOf(target))) {
    const record = journal.read()
    if (record === 'damaged' || (record !== undefined && record.digest !== target.digest)) {
      say(
        `What was noted of a run of ${plainText(target.file)} that was cut off cannot be read: a new run begins.`,
      )
    }
    if (record === undefined || record === 'damaged' || record.digest !== target.digest) journal.end()
    else if (nowMs - record.writtenMs > goOnWithinMs) {
      say(
        `A run of ${plainText(target.file)} was cut off ${ageOf(record, nowMs)} ${placeOf(record)}. That is too long ago to go on with it: ` +
          'a new run begins.',
      )
      journal.end()
    } else cut.push({ journal, record })
  }
  // Two at once, and both were cut off: what one of them had left to do the other has, too.
  const [youngest, ...older] = cut.toSorted((a, b) => b.record.writtenMs - a.record.writtenMs)
  for (const { journal } of older) journal.end()
  if (youngest === undefined) return undefined
  const { record } = youngest
  const before = record.acknowledged === 0 ? '' : ` Until then: ${totalsText(record.totals)}.`
  say(
    `Going on with the run of ${plainText(target.file)} that was cut off ${ageOf(record, nowMs)} ${placeOf(record)}.${before} ` +
      '--new-run begins anew.',
  )
  return youngest
}

/** Removes what is noted of runs to the same feed that were cut off. */
function discardCut(target: RunTarget, { folder, say, nowMs, isNew }: RunOptions): void {
  for (const journal of heldJournals(folder, feedNameOf(target))) {
    const record = journal.read()
    journal.end()
    if (record === undefined || record === 'damaged' || record.acknowledged === 0) continue
    if (isNew && record.digest === target.digest) continue
    const isSamePath = target.file !== '' && record.file === resolve(target.file)
    say(
      isSamePath
        ? `${plainText(target.file)} has changed since a run of it was cut off ${ageOf(record, nowMs)} ${placeOf(record)}: a new run begins.`
        : `A run of ${plainText(record.file)} was cut off ${ageOf(record, nowMs)} ${placeOf(record)}, and this one begins after it: ` +
            'publish that file again if the rest of it still counts.',
    )
  }
}

/** Journals of this name that no living run has. */
function* heldJournals(folder: string, name: string): Generator<Journal> {
  const files = readdirSync(folder).filter((file) => file.startsWith(`${name}-`) && file.endsWith('.json'))
  for (const file of files) {
    const journal = holdJournal(join(folder, file))
    if (journal !== undefined) yield journal
  }
}

function removeForgotten({ folder, nowMs }: RunOptions): void {
  for (const file of readdirSync(folder)) {
    const path = join(folder, file)
    const { mtimeMs = nowMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (nowMs - mtimeMs < keptMs) continue
    if (file.endsWith('.json')) holdJournal(path)?.end()
    else if (/\.json\.(new|lock|lock-journal)$/.test(file)) rmSync(path, { force: true })
  }
}

/** Of all runs to one feed. */
function feedNameOf({ service, feed }: Pick<RunTarget, 'service' | 'feed'>): string {
  return shortHash([service, feed])
}

/** Of all runs of one file to one feed. Names tell nothing of what they are of. */
function nameOf(target: RunTarget): string {
  return `${feedNameOf(target)}-${shortHash([target.digest, ...target.particulars])}`
}

function shortHash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)
}

function placeOf({ acknowledged }: RunRecord): string {
  return acknowledged === 0
    ? 'before the service had answered'
    : `after line ${acknowledged.toLocaleString('en-GB')}`
}

function ageOf({ writtenMs }: RunRecord, nowMs: number): string {
  const seconds = Math.max(1, Math.round((nowMs - writtenMs) / 1000))
  for (const [unit, length] of [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ] as const) {
    const count = Math.floor(seconds / length)
    if (count > 0) return `${count} ${unit}${count === 1 ? '' : 's'} ago`
  }
  return 'just now'
}

function reasonOf(error: unknown): string {
  return plainText(error instanceof Error ? error.message : String(error))
}
