import { join } from 'node:path'
import { copyCheckpoint } from './copy-checkpoint.ts'
import type { CopyCheckpoint } from './copy-checkpoint.ts'
import { fileCopy } from './file-copy.ts'
import { checkpointFileName, folderCopy, prepareFolder } from './folder-copy.ts'
import type { LocalCopy } from './local-copy.ts'
import { lockCopy } from './lock-copy.ts'
import { tidyFileCopy, tidyFolder } from './tidy-copy.ts'

export interface OpenCopy {
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
    tidyFileCopy(target, `${target}.checkpoint`)
    const copy = await fileCopy(target)
    return { copy, store: copyCheckpoint(`${target}.checkpoint`, { copy, target, onLost }) }
  }
  prepareFolder(target)
  lockCopy(target, join(target, '.sync.lock'))
  tidyFolder(target)
  const copy = folderCopy(target)
  return { copy, store: copyCheckpoint(join(target, checkpointFileName), { copy, target, onLost }) }
}

/** Whether the copy at this target is one file. */
export function isFileCopy(target: string): boolean {
  return target.endsWith('.ndjson')
}
