/**
 * The notes of a run of `publish`, so that it can be continued after it was cut off: one small file for each run,
 * locked for as long as the run lives, and removed when the run has ended.
 */
import { readFileSync, rmSync } from 'node:fs'
import { parseUuid, memberOf, memberText } from '@property-events/protocol'
import { takeFileLock, draftPathOf, writeWhole } from '@property-events/server/plain'
import type { FileLock } from '@property-events/server/plain'
import { noTotals } from './totals.ts'
import type { Totals } from './totals.ts'

/** The notes of a run. */
export interface RunRecord {
  /** Random. With the place of an event in the file it makes the event's id. */
  readonly run: string
  /** Path of the file, for people. */
  readonly file: string
  /** SHA-256 of the file, hexadecimal. */
  readonly digest: string
  /** The unit that events are counted in: lines, or the items of a JSON array. */
  readonly unit: 'line' | 'item'
  /** The feed's epoch when the run began; '' if the service did not say. In another one, acknowledged events may be gone. */
  readonly epoch: string
  /** The line or item up to which the service has answered; 0 when it has not. */
  readonly acknowledged: number
  /** The totals of the acknowledged events. */
  readonly totals: Totals
  /** When this was written, milliseconds since 1970. */
  readonly writtenMs: number
}

/** The version of the file's content; another version is not read. */
const format = 'property-events publish run 1'

/** The journal at a path, held by this process until `close` or `end`. */
export interface Journal {
  /** `damaged`: it cannot be read. `undefined`: there is none. */
  read(): RunRecord | 'damaged' | undefined
  /** Replaces the content as a whole, even in a power cut. */
  write(record: RunRecord): Promise<void>
  /** The run has ended: removes the journal. Safe to call twice. */
  end(): void
  /** Leaves it for a later run. */
  close(): void
}

/**
 * Locks a journal, whether or not it exists yet; `undefined`: a living process holds it. The lock is a file beside it.
 * The journal is removed before its lock, and no two runs ever have the same name, so a process that gets the lock
 * later finds nothing to continue. Throws the system's error when the lock cannot be made.
 */
export function holdJournal(path: string): Journal | undefined {
  const lockFile = `${path}.lock`
  const lock: FileLock | undefined = takeFileLock(lockFile, 0o600)
  if (lock === undefined) return undefined
  return {
    read: () => readRecord(path),
    write: (record) => writeWhole(path, [`${JSON.stringify({ format, ...record })}\n`]),
    end() {
      rmSync(path, { force: true })
      rmSync(draftPathOf(path), { force: true })
      lock.release()
      rmSync(lockFile, { force: true })
      // SQLite's own file, where a process that held the lock was killed.
      rmSync(`${lockFile}-journal`, { force: true })
    },
    close: () => lock.release(),
  }
}

function readRecord(path: string): RunRecord | 'damaged' | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? undefined : 'damaged'
  }
  try {
    const value: unknown = JSON.parse(text)
    return isRunRecord(value) ? value : 'damaged'
  } catch {
    return 'damaged'
  }
}

function isRunRecord(value: unknown): value is RunRecord {
  const run = memberText(value, 'run')
  const totals = memberOf(value, 'totals')
  const counts = [
    ...['acknowledged', 'writtenMs'].map((name) => memberOf(value, name)),
    ...Object.keys(noTotals).map((name) => memberOf(totals, name)),
  ]
  return (
    memberText(value, 'format') === format &&
    run !== undefined &&
    parseUuid(run) === run &&
    memberText(value, 'file') !== undefined &&
    memberText(value, 'digest') !== undefined &&
    memberText(value, 'epoch') !== undefined &&
    ['line', 'item'].includes(memberText(value, 'unit') ?? '') &&
    counts.every((count) => Number.isSafeInteger(count) && Number(count) >= 0)
  )
}
