/** Starts a bare Node program of this folder that prints its address. */
import { join } from 'node:path'
import { serverCore, spawnPinned, stop } from '../support/pinned.ts'
import { firstLine, usageOfTrees } from '../support/server.ts'
import type { RunningServer } from '../support/server.ts'

export async function startProgram(name: string, args: readonly string[] = []): Promise<RunningServer> {
  const child = spawnPinned(serverCore, process.execPath, [join(import.meta.dirname, name), ...args])
  const url = await firstLine(child)
  child.stderr?.pipe(process.stderr)
  return { url, ...usageOfTrees(() => [child.pid ?? 0]), [Symbol.asyncDispose]: () => stop(child) }
}
