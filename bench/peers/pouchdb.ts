/** A changes feed over HTTP from npm: express-pouchdb on LevelDB, its documents included in the answer. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listFile } from '../support/wrk.ts'
import { startProgram } from './bare-node.ts'
import type { RunningServer } from '../support/server.ts'
import { missing } from './missing.ts'
import type { Missing } from './missing.ts'

/** The measured versions. None of them is a dependency of this project. */
const packages = ['express-pouchdb@4.2.0', 'pouchdb-node@7.3.1', 'express@4.21.2']

export function pouchTarget(after: number, limit: number): string {
  return `/feed/_changes?since=${after}&limit=${limit}&include_docs=true`
}

/** With `events` (their JSON, in order) as documents. The packages and the data stay in `cacheFolder`. */
export async function startPouch(
  cacheFolder: string,
  name: string,
  events: () => Iterable<string>,
): Promise<RunningServer | Missing> {
  const folder = join(cacheFolder, 'express-pouchdb')
  const failure = install(folder)
  if (failure !== undefined) return failure
  const data = join(folder, `data-${name}`)
  const documents = join(folder, `documents-${name}`)
  if (!existsSync(documents)) listFile(folder, `documents-${name}`, [...events()].map(documentOf))
  mkdirSync(data, { recursive: true })
  return startProgram('pouchdb-server.mjs', [folder, data, documents])
}

function install(folder: string): Missing | undefined {
  const stamp = join(folder, 'installed')
  const wanted = packages.join(' ')
  if (existsSync(stamp)) return undefined
  mkdirSync(folder, { recursive: true })
  const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status, stderr } = spawnSync('npm', ['install', '--prefix', folder, ...flags, ...packages], {
    encoding: 'utf8',
    timeout: 300_000,
  })
  if (status === 0) {
    writeFileSync(stamp, wanted)
    return undefined
  }
  return missing(`npm could not install ${wanted}: ${(stderr ?? '').split('\n')[0] ?? ''}`)
}

function documentOf(json: string): string {
  const { id, ...event }: { id: string } = JSON.parse(json)
  return JSON.stringify({ _id: id, ...event })
}
