import { existsSync } from 'node:fs'
import { CheckpointError } from '@property-events/client'
import type { Checkpoint } from '@property-events/client'
import { fileCheckpoint } from '@property-events/client/node'
import type { LocalCopy } from './local-copy.ts'
import { writeWhole } from '@property-events/server/plain'

/** The file of the checkpoint of a copy on disk. */
export interface CopyCheckpoint {
  load(): Promise<unknown>
  save(checkpoint: Checkpoint): Promise<void>
}

/**
 * Kept with a checkpoint: the number of entries in the copy, so that a copy that was emptied differs from one that was
 * empty.
 */
interface Kept extends Checkpoint {
  readonly held: number
}

/**
 * The checkpoint of `copy`, which is at `target`, in a file. It counts only while the copy holds something: a sync that
 * continued from it would leave a copy that was emptied or removed empty for ever. Such a checkpoint is forgotten, and
 * `onLost` is called.
 */
export function copyCheckpoint(
  path: string,
  { copy, target, onLost }: { copy: LocalCopy; target: string; onLost: () => void },
): CopyCheckpoint {
  const file = fileCheckpoint(path)
  return {
    async load() {
      const kept = (await file.load()) ?? undefined
      if (kept === undefined) return undefined
      const held = heldOf(kept)
      const isLost = !existsSync(target) || ((await copy.count()) === 0 && held > 0)
      if (!isLost) return kept
      onLost()
      // Before the copy is begun again, because the checkpoint would claim that it is complete. The file stays, because
      // it marks a folder as a copy.
      await writeWhole(path, ['null'])
      return undefined
    },
    async save(checkpoint) {
      const kept: Kept = { ...checkpoint, held: await copy.count() }
      await file.save?.(kept)
    },
  }
}

const format: Checkpoint['format'] = 'property-events-checkpoint/1'

/** 0 for what is no checkpoint of this format: the client refuses that, and says so. */
function heldOf(kept: unknown): number {
  if (typeof kept !== 'object' || kept === null || !('format' in kept) || kept.format !== format) return 0
  if ('held' in kept && typeof kept.held === 'number') return kept.held
  throw new CheckpointError('The checkpoint is damaged: a member is missing or wrong.')
}
