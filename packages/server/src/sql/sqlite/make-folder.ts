import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder that only its owner can enter, with its missing parents. Not `mkdirSync(…, { recursive })`: below /proc, where a missing
 * folder is refused with ENOENT, that tries for ever (seen with Node 26.10).
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  const above = dirname(folder)
  if (above !== folder) makeFolder(above)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it in between.
    if (!existsSync(folder)) throw error
  }
}
