/** Cleans a copy up before it is written to, under its lock: leftovers of a killed sync. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkpointFileName, entryNameOf } from './folder-copy.ts'
import { draftPathOf } from '@property-events/server/plain'

const draftSuffix = draftPathOf('')

/**
 * Files of the copy that were being written, and no others. Otherwise a property that was removed since would stay
 * there for ever.
 */
export function tidyFolder(folder: string): void {
  for (const file of readdirSync(folder)) {
    if (file.endsWith(draftSuffix) && isOurs(file.slice(0, -draftSuffix.length))) rmSync(join(folder, file))
  }
}

export function tidyFileCopy(file: string, checkpoint: string): void {
  for (const path of [file, checkpoint]) rmSync(draftPathOf(path), { force: true })
}

function isOurs(file: string): boolean {
  return file === checkpointFileName || entryNameOf(file) !== undefined
}
