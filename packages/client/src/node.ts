/** The part that needs a file system: for Node, Deno and Bun. */
import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CheckpointError } from './errors.ts'
import type { CheckpointStore } from './sync/checkpoint.ts'

/**
 * Keeps the checkpoint in a file. It is written whole beside the file, flushed and renamed, so after a crash or a power
 * cut the file holds the last checkpoint or the previous one, never a part. Its folder must exist. One sync at a time
 * may use a file.
 */
export function fileCheckpoint(path: string): CheckpointStore {
  return {
    async load() {
      const text = await readIfThere(path)
      if (text === undefined) return undefined
      try {
        return JSON.parse(text)
      } catch (cause) {
        throw new CheckpointError(`${path} is not a checkpoint: not JSON.`, { cause })
      }
    },
    async save(checkpoint) {
      const draft = `${path}.new`
      // The checkpoint names properties and contacts, so only its owner may read it.
      const file = await open(draft, 'w', 0o600)
      try {
        await file.writeFile(JSON.stringify(checkpoint))
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
      await flushFolder(dirname(path))
    },
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** The rename itself is on disk only when its folder is flushed. Windows cannot open folders and needs no flush. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  if (folder === undefined) return
  try {
    await folder.sync()
  } catch {
    // Some file systems refuse to flush a folder; the rename is then as safe as the file system makes it.
  } finally {
    await folder.close()
  }
}
