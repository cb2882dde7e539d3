/** Installs what package-lock.json names, when it is not there yet. Plain JavaScript for any Node from 18. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Written after a whole installation; an interrupted one leaves none and is done again. */
const stampFile = join('node_modules', '.installed')

/**
 * @param {string} root folder of package-lock.json
 * @param {'program' | 'everything'} what the program alone, or the tools for tests and checks as well
 */
export function installMissing(root, what) {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const stamp = join(root, stampFile)
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  if (installed === `${lock} everything` || installed === `${lock} ${what}`) return
  const downloadMb = what === 'program' ? 80 : 160
  process.stderr.write(
    `Installing packages (${what}; the first time this downloads about ${downloadMb} MB) …\n`,
  )
  const omit = what === 'program' ? ['--omit=dev'] : []
  // No package needs its install script, so none is run.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...omit]
  const npmProgram = process.env.npm_execpath
  const [command, before] = npmProgram === undefined ? ['npm', []] : [process.execPath, [npmProgram]]
  const result = spawnSync(command, [...before, ...args], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: npmProgram === undefined && process.platform === 'win32',
    // The npm that started this script says which packages to omit or include through its own variables.
    env: {
      ...process.env,
      npm_config_production: undefined,
      npm_config_omit: undefined,
      NODE_ENV: undefined,
    },
  })
  if (result.status !== 0) {
    process.stderr.write(
      'The packages could not be installed. Is the npm registry within reach? Then run the command again.\n',
    )
    process.exit(1)
  }
  writeFileSync(stamp, `${lock} ${what}`)
}
