import { existsSync } from 'node:fs'
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
      const isLost = !existsSync(target) || ((await copy.count()) === 0 && heldSome(kept))
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

/** Earlier versions did not keep the number. A text that is not a checkpoint at all is refused by the client. */
function heldSome(kept: unknown): boolean {
  if (typeof kept !== 'object' || kept === null || !('format' in kept)) return false
  return !('held' in kept) || kept.held !== 0
}
