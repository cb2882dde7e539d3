/** The client in an empty project, as npm installs its archive. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { packBuilt } from '../../../../scripts/pack.ts'
import { buildPackage } from '../../build.ts'

/** Makes the project `consumer`, and the archive in `folder`. Without a network: the client needs nothing. */
export function installClient(folder: string, consumer: string): void {
  const { path } = packBuilt(buildPackage, folder)
  mkdirSync(consumer)
  writeFileSync(`${consumer}/package.json`, '{ "type": "module", "private": true }')
  const quiet = ['--offline', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', ['install', path, ...quiet], { cwd: consumer, stdio: 'pipe' })
}
