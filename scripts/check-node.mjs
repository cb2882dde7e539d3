/**
 * Reads the carried Node and compares it with the checksum that is kept: `npm run node:check`, with the Node that npm runs on. Run by
 * whoever may write to node_modules, it spares the service reading it at each start. Plain JavaScript for any Node from 20.
 */
import { faultOfCarried, findCarried } from '../packages/cli/carried-node/index.mjs'

const carried = findCarried()
if (carried === undefined) {
  process.stdout.write(`No Node came with the packages for ${process.platform} ${process.arch}.\n`)
} else {
  const fault = faultOfCarried(carried, { again: true })
  if (fault === undefined)
    process.stdout.write(`${carried.path} is Node ${carried.version}; its checksum matches.\n`)
  else {
    process.stderr.write(`${fault.detail} ${fault.remedy}\n`)
    process.exitCode = 1
  }
}
