/** Finds a Node that runs the sources as they are. Plain JavaScript for any Node from 20. */
import { spawnSync } from 'node:child_process'
import { faultOfCarried, findCarried } from '../packages/cli/carried-node/index.mjs'

/** The oldest Node that strips types without a flag and holds everything the program uses. */
export const oldestMajor = 24

/**
 * The path of a usable Node: the one among the installed packages, or the one that runs this script. The carried one
 * is tried out, because its Linux builds need glibc, and only after its checksum was compared.
 * @returns {{ path: string } | { fault: string } | undefined}
 */
export function findNode() {
  const carried = findCarried()
  if (carried !== undefined) {
    const fault = faultOfCarried(carried)
    if (fault !== undefined) return { fault: `${fault.detail} ${fault.remedy}` }
    if (spawnSync(carried.path, ['--version']).status === 0) return { path: carried.path }
  }
  return Number.parseInt(process.versions.node, 10) >= oldestMajor ? { path: process.execPath } : undefined
}
