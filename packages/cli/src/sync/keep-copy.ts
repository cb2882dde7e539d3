/** The one way in which a batch gets into a copy on disk, with its checkpoint in agreement. */
import type { Batch, Checkpoint } from '@property-events/client'
import type { CopyKeeper } from '@property-events/tables'
import type { LocalCopy } from './local-copy.ts'
import { isFileCopy } from './disk-copy.ts'
import type { OpenCopy } from './disk-copy.ts'

export function keepCopy(target: string, { copy, store }: OpenCopy): CopyKeeper {
  const isFile = isFileCopy(target)
  const counts = { changes: 0, removals: 0, removed: 0 }
  /** The checkpoint of the copy, as long as the copy is not completely on disk. */
  let unkept: Checkpoint | undefined
  const keep = async (finished: boolean): Promise<void> => {
    if (unkept === undefined || !(await copy.flush(finished))) return
    if (isFile) await store.save(unkept)
    unkept = undefined
  }
  return {
    copy,
    held: () => copy.held(),
    // A file is written from time to time, so its checkpoint is kept only when the file is.
    checkpoint: isFile ? { load: () => store.load() } : store,
    counts,
    async apply(batch) {
      const removals = batch.changes.filter(({ kind }) => kind === 'remove')
      const removed = await copy.holds(removals.map(({ subjectId }) => subjectId))
      await applyTo(copy, batch)
      unkept = batch.checkpoint
      counts.changes += batch.changes.length
      counts.removals += removals.length
      counts.removed += removed
      await keep(false)
    },
    keep,
    isStored: () => unkept === undefined,
    close: async () => undefined,
  }
}

async function applyTo(copy: LocalCopy, { changes }: Batch): Promise<void> {
  for (const change of changes) {
    if (change.kind === 'remove') await copy.remove(change.subjectId)
    else await copy.put(change)
  }
}
