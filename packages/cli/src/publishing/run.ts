/** Begins a run of a file, or continues one that was cut off. */
import { randomUUID } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeFolder } from '@property-events/server/plain'
import { plainText } from '../terminal-text.ts'
import { discardCut, findCut, journalNameOf, removeForgotten } from './interrupted-runs.ts'
import type { FeedTarget, HeldRun, RunOptions, RunTarget } from './interrupted-runs.ts'
import { holdJournal } from './journal.ts'
import type { RunRecord } from './journal.ts'
import { noTotals } from './totals.ts'
import type { Totals } from './totals.ts'

export interface Run {
  /** UUID under which the ids of lines are made. */
  readonly run: string
  /** Events up to this line, or in a JSON array this item, were answered earlier; 0 in a new run. */
  readonly acknowledged: number
  /** The totals of those events. */
  readonly totals: Totals
  readonly unit: RunRecord['unit']
  /** It was cut off, and this is a later part of it. */
  readonly isGoneOnWith: boolean
  /** It can be continued after it is stopped. */
  readonly isKept: boolean
  /** The service has answered up to this line or item. `totals` are those of the whole run. */
  acknowledge(place: number, totals: Totals): Promise<void>
  /** All events are answered: the notes are removed. */
  end(): void
  /** Stopped before its end: a later command continues it. */
  close(): void
}

/** A run without notes: of standard input, a dry run, or where the folder cannot be written. */
export function unkeptRun(unit: Run['unit']): Run {
  return {
    run: randomUUID(),
    acknowledged: 0,
    unit,
    totals: noTotals,
    isGoneOnWith: false,
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
    removeForgotten(options)
    chmodSync(folder, 0o700)
    const found = isNew ? undefined : findCut(target, options)
    if (found !== undefined) return keptRun(found, true, options)
    discardCut(target, options)
    const run = randomUUID()
    const journal = holdJournal(join(folder, `${journalNameOf(target)}-${run}.json`))
    if (journal === undefined) throw new Error('a new run is locked')
    const { digest, unit, epoch } = target
    const place = { file: resolve(target.file), digest, unit, epoch }
    const record = { run, ...place, acknowledged: 0, totals: noTotals, writtenMs: options.nowMs }
    await journal.write(record).catch((error: unknown) => {
      journal.end()
      throw error
    })
    return keptRun({ journal, record }, false, options)
  } catch (error) {
    say(
      `The progress of this run cannot be noted in ${plainText(folder)} (${reasonOf(error)}), so it cannot be continued ` +
        'if it is cut off: the same command then begins a new run. XDG_STATE_HOME names another folder.',
    )
    return unkeptRun(target.unit)
  }
}

/** Piped events are a new run as well: earlier interrupted runs to the same feed end. */
export function supersedeCutRuns(target: FeedTarget, options: RunOptions): void {
  try {
    discardCut(target, options)
  } catch {
    // Where the folder cannot be read, there are no notes, or none that would be found.
  }
}

function keptRun({ journal, record }: HeldRun, isGoneOnWith: boolean, { folder, say }: RunOptions): Run {
  let isTold = false
  return {
    run: record.run,
    acknowledged: record.acknowledged,
    unit: record.unit,
    totals: record.totals,
    isGoneOnWith,
    isKept: true,
    async acknowledge(place, totals) {
      try {
        await journal.write({ ...record, acknowledged: place, totals, writtenMs: Date.now() })
      } catch (error) {
        // The earlier notes stay true: later lines would come back as repeats.
        if (!isTold)
          say(`The progress of this run cannot be noted in ${plainText(folder)} (${reasonOf(error)}).`)
        isTold = true
      }
    },
    end: () => journal.end(),
    close: () => journal.close(),
  }
}

function reasonOf(error: unknown): string {
  return plainText(error instanceof Error ? error.message : String(error))
}
