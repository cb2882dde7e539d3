import { join } from 'node:path'
import type { CheckpointStore } from '@property-events/client'
import { fileCheckpoint } from '@property-events/client/node'
import { fileCopy } from './file-copy.ts'
import { checkpointFileName, folderCopy, prepareFolder } from './folder-copy.ts'
import type { LocalCopy } from './local-copy.ts'
import { lockCopy } from './lock-copy.ts'

export interface OpenCopy {
  readonly copy: LocalCopy
  readonly store: CheckpointStore
}

/**
 * Opens a copy and its checkpoint for this process alone, until that ends: what another sync wrote meanwhile would not
 * be seen. Throws a `Refusal` when another has it, or when what is there is not a copy.
 */
export async function openCopy(target: string): Promise<OpenCopy> {
  if (isFileCopy(target)) {
    lockCopy(target, `${target}.lock`)
    return { copy: await fileCopy(target), store: fileCheckpoint(`${target}.checkpoint`) }
  }
  prepareFolder(target)
  lockCopy(target, join(target, '.sync.lock'))
  return { copy: folderCopy(target), store: fileCheckpoint(join(target, checkpointFileName)) }
}

/** Whether the copy at this target is one file. */
export function isFileCopy(target: string): boolean {
  return target.endsWith('.ndjson')
}
