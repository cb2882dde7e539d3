/** The server of Durable Streams from npm: an append-only log with live reads as events and by long-polls, here in memory. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningServer } from '../support/server.ts'
import { startProgram } from './bare-node.ts'
import { missing } from './missing.ts'
import type { Missing } from './missing.ts'

/** The version that was measured. It is no dependency of this project. */
const wanted = '@durable-streams/server@0.3.7'

/** The packages stay in `cacheFolder`. */
export async function startDurableStreams(cacheFolder: string): Promise<RunningServer | Missing> {
  const folder = join(cacheFolder, 'durable-streams')
  const stamp = join(folder, 'installed')
  if (!existsSync(stamp)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }')
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const { status, stderr } = spawnSync('npm', ['install', '--prefix', folder, ...flags, wanted], {
      encoding: 'utf8',
      timeout: 300_000,
    })
    if (status !== 0)
      return missing(`npm could not install ${wanted}: ${(stderr ?? '').split('\n')[0] ?? ''}`)
    writeFileSync(stamp, wanted)
  }
  return startProgram('durable-streams-server.mjs', [folder])
}
