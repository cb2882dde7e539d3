/** A copy on disk with its checkpoint: opened, locked and cleaned up for one sync, which alone writes to it. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CheckpointError } from '@property-events/client'
import type { Batch, Checkpoint } from '@property-events/client'
import { fileCheckpoint } from '@property-events/client/node'
import { draftPathOf, takeFileLock, writeWhole } from '@property-events/server/plain'
import type { CopyKeeper } from '@property-events/tables'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'
import { checkpointFileName, fileCopy, folderCopy, prepareFolder } from './local-copy.ts'
import type { LocalCopy } from './local-copy.ts'

interface OpenCopy {
  readonly copy: LocalCopy
  readonly store: CopyCheckpoint
}

/**
 * Opens a copy and its checkpoint for this process alone, until it ends, because it would not see the changes of
 * another sync. Throws a `Refusal` when another sync has the copy, or when the target is not a copy. `onLost` is called
 * when a checkpoint no longer counts, because nothing is left of the copy.
 */
export async function openCopy(target: string, onLost: () => void): Promise<OpenCopy> {
  if (isFileCopy(target)) {
    lockCopy(target, `${target}.lock`)
    removeDrafts(target, `${target}.checkpoint`)
    const copy = await fileCopy(target)
    return { copy, store: copyCheckpoint(`${target}.checkpoint`, { copy, target, onLost }) }
  }
  prepareFolder(target)
  lockCopy(target, join(target, '.sync.lock'))
  const checkpoint = join(target, checkpointFileName)
  removeDrafts(checkpoint)
  const copy = folderCopy(target)
  return { copy, store: copyCheckpoint(checkpoint, { copy, target, onLost }) }
}

/** Whether the copy at this target is one file. */
function isFileCopy(target: string): boolean {
  return target.endsWith('.ndjson')
}

/**
 * Locks a copy, by a file beside it or in it, until this process ends. Throws a `Refusal` when another sync has it: what a second one
 * wrote between a file and the checkpoint of the first would stay wrong for ever.
 */
function lockCopy(target: string, lockFile: string): void {
  if (takeLock(lockFile)) return
  throw new Refusal(
    `Another sync is writing to ${plainText(target)}, and two at once would damage the copy. ` +
      'Wait until it has ended, stop it, or name another target.',
  )
}

function takeLock(lockFile: string): boolean {
  try {
    return takeFileLock(lockFile, 0o600) !== undefined
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_'))) throw error
    throw new Refusal(
      `${plainText(lockFile)} cannot be locked (${plainText(error.message)}), so a second sync could damage the copy. ` +
        'Name another target, on a local disk.',
      { cause: error },
    )
  }
}

/** What was being written when a sync was killed. */
function removeDrafts(...paths: readonly string[]): void {
  for (const path of paths) rmSync(draftPathOf(path), { force: true })
}

export function keepCopy(target: string, { copy, store }: OpenCopy): CopyKeeper {
  const isFile = isFileCopy(target)
  const counts = { changes: 0, removals: 0, removed: 0 }
  /** The checkpoint of the copy, as long as the copy is not completely on disk. */
  let pending: Checkpoint | undefined
  const keep = async (finished: boolean): Promise<void> => {
    if (pending === undefined || !(await copy.flush(finished))) return
    if (isFile) await store.save(pending)
    pending = undefined
  }
  return {
    copy,
    held: () => copy.held(),
    // A file is written from time to time, so its checkpoint is kept only when the file is.
    checkpoint: isFile ? { load: () => store.load() } : store,
    counts,
    async apply(batch) {
      const removals = batch.changes.filter(({ kind }) => kind === 'remove')
      const removed = await copy.countOf(removals.map(({ subjectId }) => subjectId))
      await applyTo(copy, batch)
      pending = batch.checkpoint
      counts.changes += batch.changes.length
      counts.removals += removals.length
      counts.removed += removed
      await keep(false)
    },
    keep,
    isStored: () => pending === undefined,
    close: async () => undefined,
  }
}

async function applyTo(copy: LocalCopy, { changes }: Batch): Promise<void> {
  for (const change of changes) {
    if (change.kind === 'remove') await copy.remove(change.subjectId)
    else await copy.put(change)
  }
}

/** The file of the checkpoint of a copy on disk. */
interface CopyCheckpoint {
  load(): Promise<unknown>
  save(checkpoint: Checkpoint): Promise<void>
}

/**
 * Stored with a checkpoint: the number of entries in the copy, so that a copy that was emptied differs from one that was
 * empty.
 */
interface SavedCheckpoint extends Checkpoint {
  readonly held: number
}

/**
 * The checkpoint of `copy`, which is at `target`, in a file. It counts only while the copy holds something: a sync that
 * continued from it would leave a copy that was emptied or removed empty for ever. Such a checkpoint is forgotten, and
 * `onLost` is called.
 */
function copyCheckpoint(
  path: string,
  { copy, target, onLost }: { copy: LocalCopy; target: string; onLost: () => void },
): CopyCheckpoint {
  const file = fileCheckpoint(path)
  return {
    async load() {
      const saved = (await file.load()) ?? undefined
      if (saved === undefined) return undefined
      const held = heldOf(saved)
      if (existsSync(target) && copy.resume(held)) return saved
      onLost()
      // Before the copy is begun again, because the checkpoint would claim that it is complete. The file stays, because
      // it marks a folder as a copy.
      await writeWhole(path, ['null'])
      return undefined
    },
    async save(checkpoint) {
      const saved: SavedCheckpoint = { ...checkpoint, held: await copy.count() }
      await file.save?.(saved)
    },
  }
}

const format: Checkpoint['format'] = 'property-events-checkpoint/1'

/** 0 for what is no checkpoint of this format: the client refuses that, and says so. */
function heldOf(saved: unknown): number {
  if (typeof saved !== 'object' || saved === null || !('format' in saved) || saved.format !== format) return 0
  if ('held' in saved && typeof saved.held === 'number') return saved.held
  throw new CheckpointError('The checkpoint is damaged: a member is missing or wrong.')
}
