/** Reads files once, so that the kernel has them in its page cache and no disk is measured. */
import { closeSync, openSync, readSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const buffer = Buffer.alloc(2 ** 20)

/** Files, and the files of folders. Missing ones are left out. */
export function readIntoPageCache(...paths: readonly string[]): void {
  for (const path of paths) {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory() === true) readIntoPageCache(...readdirSync(path).map((name) => join(path, name)))
    else if (stat !== undefined) readWhole(path)
  }
}

function readWhole(path: string): void {
  const file = openSync(path, 'r')
  while (readSync(file, buffer) > 0);
  closeSync(file)
}
