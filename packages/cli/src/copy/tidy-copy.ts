/**
 * Cleans a copy up before it is written to, under its lock: leftovers of a killed sync, and rights that are too wide.
 */
import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { checkpointFileName, entryNameOf } from './folder-copy.ts'
import { draftPathOf } from '@property-events/server/plain'

const draftSuffix = draftPathOf('')

/**
 * Files of the copy that were being written, and no others. Otherwise a property that was removed since would stay
 * there for ever.
 */
export function tidyFolder(folder: string): void {
  const checkpoint = join(folder, checkpointFileName)
  const isOpen = isOpenToOthers(checkpoint)
  for (const file of readdirSync(folder)) {
    if (file.endsWith(draftSuffix) && isOurs(file.slice(0, -draftSuffix.length))) rmSync(join(folder, file))
    else if (isOpen && isOurs(file)) chmodSync(join(folder, file), 0o600)
  }
  if (isOpen) chmodSync(folder, 0o700)
}

export function tidyFileCopy(file: string, checkpoint: string): void {
  for (const path of [file, checkpoint]) rmSync(draftPathOf(path), { force: true })
  if (!isOpenToOthers(checkpoint)) return
  for (const path of [file, checkpoint]) {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) chmodSync(path, 0o600)
  }
}

function isOurs(file: string): boolean {
  return file === checkpointFileName || entryNameOf(file) !== undefined
}

/**
 * Earlier builds made copies, checkpoints included, that every user could read. They are closed once; rights that are
 * given to a folder afterwards stay.
 */
function isOpenToOthers(checkpoint: string): boolean {
  if (process.platform === 'win32') return false
  const mode = statSync(checkpoint, { throwIfNoEntry: false })?.mode ?? 0
  return (mode & 0o077) !== 0
}
