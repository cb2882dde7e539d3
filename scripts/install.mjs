/** Installs what package-lock.json names, when it is not there yet. Plain JavaScript for any Node from 20. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Written after a whole installation of ours; an interrupted one leaves none and is done again. */
const stampFile = join('node_modules', '.installed')

/** What npm itself has installed in full, such as `npm ci` for a service. */
const recordFile = join('node_modules', '.package-lock.json')

/**
 * Replaces nothing that others have installed: a service may be running from it.
 * @param {string} root folder of package-lock.json
 * @param {'program' | 'everything'} what the program alone, or the tools for tests and checks as well
 */
export function installMissing(root, what) {
  const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const lock = createHash('sha256').update(lockText).digest('hex')
  const stamp = join(root, stampFile)
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  if (installed === `${lock} everything` || installed === `${lock} ${what}`) return
  const record = join(root, recordFile)
  if (existsSync(record)) {
    if (holdsAll(JSON.parse(readFileSync(record, 'utf8')), JSON.parse(lockText), what)) return
    if (installed === '') {
      const npmCi = `npm ci --ignore-scripts${what === 'program' ? ' --omit=dev' : ''}`
      process.stderr.write(
        `The packages in node_modules are not those that package-lock.json names${what === 'program' ? '' : ', with the tools for tests'}. This command did not ` +
          `install them, and a service may be running from them, so nothing was changed. Stop it, and install: ${npmCi}\n`,
      )
      process.exit(1)
    }
  }
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

/** Whether npm's record has every needed package in the version of the lock. Optional ones are for other platforms, too. */
function holdsAll(record, lock, what) {
  return Object.entries(lock.packages ?? {}).every(
    ([path, { version, dev, optional, devOptional, link }]) => {
      const isNeeded = path.includes('node_modules/') && !link && !optional && !devOptional
      return !isNeeded || (dev && what === 'program') || record.packages?.[path]?.version === version
    },
  )
}
