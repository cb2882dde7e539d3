/**
 * The notes of a run of `publish`, so that it can be continued after it was interrupted: one small file for each run,
 * locked for as long as the run lives, and removed when the run has ended.
 */
import { readFileSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { memberOf, memberText, parseUuid } from '@property-events/protocol'
import { draftPathOf, takeFileLock, writeWhole } from '@property-events/server/plain'
import type { FileLock } from '@property-events/server/plain'
import type { Environment } from '../settings/setting.ts'

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
export function lockJournal(path: string): Journal | undefined {
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

/** The results for the events of a run. */
export interface Totals {
  readonly published: number
  readonly repeated: number
  readonly unchanged: number
  readonly refused: number
}

export const noTotals: Totals = { published: 0, repeated: 0, unchanged: 0, refused: 0 }

export function addTotals(one: Totals, other: Totals): Totals {
  return {
    published: one.published + other.published,
    repeated: one.repeated + other.repeated,
    unchanged: one.unchanged + other.unchanged,
    refused: one.refused + other.refused,
  }
}

export function sumOf({ published, repeated, unchanged, refused }: Totals): number {
  return published + repeated + unchanged + refused
}

/** `1,200 published, 0 repeated, 3 unchanged, 1 refused`. */
export function totalsText({ published, repeated, unchanged, refused }: Totals, dryRun = false): string {
  const number = (value: number) => value.toLocaleString('en-GB')
  const verb = dryRun ? 'would be published' : 'published'
  return `${number(published)} ${verb}, ${number(repeated)} repeated, ${number(unchanged)} unchanged, ${number(refused)} refused`
}

/**
 * `property-events` in the user's folder for state: `XDG_STATE_HOME` if that is set to an absolute path (the XDG Base Directory
 * Specification accepts no other), otherwise the usual folder of the platform. Creates nothing.
 */
export function stateFolder(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
  home: string = homedir(),
): string {
  return join(stateHome(environment, platform, home), 'property-events')
}

function stateHome(environment: Environment, platform: NodeJS.Platform, home: string): string {
  const { XDG_STATE_HOME: given = '', LOCALAPPDATA: local = '' } = environment
  if (isAbsolute(given)) return given
  if (platform === 'win32') return local === '' ? join(home, 'AppData', 'Local') : local
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  return join(home, '.local', 'state')
}
