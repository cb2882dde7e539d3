import { existsSync } from 'node:fs'
import type { Checkpoint } from '@property-events/client'
import { fileCheckpoint } from '@property-events/client/node'
import type { LocalCopy } from './local-copy.ts'
import { writeWhole } from '../write-whole.ts'

/** Where the checkpoint of a copy on disk is kept. */
export interface CopyCheckpoint {
  load(): Promise<unknown>
  save(checkpoint: Checkpoint): Promise<void>
}

/** What is kept with a checkpoint: how many the copy held, so that one that was emptied differs from one that was empty. */
interface Kept extends Checkpoint {
  readonly held: number
}

/**
 * The checkpoint of `copy`, which lies at `target`, in a file. It counts only as long as there is something of the copy:
 * to go on behind it would leave one that somebody has emptied or removed empty for ever. Then it is forgotten, and
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
      // Before the copy is begun again: it would seem to be the whole one. The file stays, because it tells a folder of ours.
      await writeWhole(path, ['null'])
      return undefined
    },
    async save(checkpoint) {
      const kept: Kept = { ...checkpoint, held: await copy.count() }
      await file.save?.(kept)
    },
  }
}

/** Earlier versions did not say how many. What is no checkpoint at all is for the client to refuse. */
function heldSome(kept: unknown): boolean {
  if (typeof kept !== 'object' || kept === null || !('format' in kept)) return false
  return !('held' in kept) || kept.held !== 0
}
