/**
 * In place of `systemctl` where no systemd runs, for following the operating guide: starts, stops and restarts the units of
 * /etc/systemd/system as their files say (user, environment, credentials, folders, command), and nginx. What only systemd can
 * show, restarts after a crash and the walls around a service, it does not do.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readUnit, specified, wordsOf } from './unit-file.ts'

const state = '/run/units'
const [verb = '', ...rest] = process.argv.slice(2)
const units = rest.filter((word) => !word.startsWith('--')).map((name) => name.replace(/\.service$/, ''))
mkdirSync(state, { recursive: true })

switch (verb) {
  case 'daemon-reload':
    break
  case 'enable':
    if (rest.includes('--now')) for (const unit of units) await start(unit)
    break
  case 'start':
    for (const unit of units) await start(unit)
    break
  case 'stop':
    for (const unit of units) await stop(unit)
    break
  case 'restart':
    for (const unit of units) {
      await stop(unit)
      await start(unit)
    }
    break
  case 'reload-or-restart':
    for (const unit of units) reloadNginx(unit)
    break
  default:
    throw new Error(`systemctl ${verb} is not known here`)
}

function reloadNginx(unit: string): void {
  if (unit !== 'nginx') throw new Error(`only nginx is reloaded here, not ${unit}`)
  // `nginx -t` leaves an empty one.
  const isRunning = existsSync('/run/nginx.pid') && readFileSync('/run/nginx.pid', 'utf8') !== ''
  execute(isRunning ? ['nginx', '-s', 'reload'] : ['nginx'])
}

function execute([command = '', ...words]: readonly string[], options: object = {}): void {
  const { status, error } = spawnSync(command, words, { stdio: 'inherit', ...options })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${command} ended with ${status}`)
}

async function start(unit: string): Promise<void> {
  if (unit.endsWith('.timer')) {
    readUnit(join('/etc/systemd/system', unit))
    return
  }
  const [template = '', instance = ''] = unit.split('@')
  const path = `/etc/systemd/system/${template}${unit.includes('@') ? '@' : ''}.service`
  const file = readUnit(path, globSync(`${path}.d/*.conf`).toSorted())
  const user = file.last('Service', 'User') ?? 'root'
  const credentials = join('/run/credentials', unit)
  const say = (text: string) => specified(text, { instance, credentials })
  for (const [key, parent] of [
    ['StateDirectory', '/var/lib'],
    ['CacheDirectory', '/var/cache'],
  ] as const) {
    for (const name of file.all('Service', key)) ownFolder(join(parent, say(name)), user)
  }
  for (const one of file.all('Service', 'LoadCredential')) {
    const [name = '', path = ''] = one.split(':')
    ownFolder(credentials, user)
    copyFileSync(path, join(credentials, name))
    execute(['chown', user, join(credentials, name)])
    chmodSync(join(credentials, name), 0o400)
  }
  const environment = [
    ...file.all('Service', 'Environment'),
    ...file.all('Service', 'EnvironmentFile').flatMap((path) => variablesIn(say(path))),
  ].map(say)
  const commandOf = (key: string) =>
    file
      .all('Service', key)
      .map((line) => [
        'setpriv',
        `--reuid=${user}`,
        `--regid=${user}`,
        '--clear-groups',
        'env',
        '-i',
        'PATH=/usr/local/bin:/usr/bin:/bin',
        ...environment,
        ...wordsOf(say(line)),
      ])
  const log = openSync(join(state, `${unit}.log`), 'a')
  const options = { cwd: '/', stdio: ['ignore', log, log] as ['ignore', number, number] }
  if (file.last('Service', 'Type') === 'oneshot') {
    for (const command of [...commandOf('ExecStart'), ...commandOf('ExecStartPost')])
      execute(command, options)
    return
  }
  const [[command = '', ...words] = []] = commandOf('ExecStart')
  const child = spawn(command, words, { ...options, detached: true })
  writeFileSync(join(state, `${unit}.pid`), String(child.pid))
  child.unref()
}

/** As systemd reads it: a name with `-` in front may be missing. */
function variablesIn(given: string): readonly string[] {
  const path = given.replace(/^-/, '')
  if (path !== given && !existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
}

function ownFolder(path: string, user: string): void {
  mkdirSync(path, { recursive: true })
  execute(['chown', `${user}:`, path])
  chmodSync(path, 0o700)
}

async function stop(unit: string): Promise<void> {
  const path = join(state, `${unit}.pid`)
  if (!existsSync(path)) return
  const pid = Number(readFileSync(path, 'utf8'))
  process.kill(pid, 'SIGTERM')
  for (let waitedMs = 0; isRunning(pid); waitedMs += 50) {
    if (waitedMs > 60_000) throw new Error(`${basename(path, '.pid')} does not stop`)
    await delay(50)
  }
  rmSync(path)
}

function isRunning(pid: number): boolean {
  // One that has ended and that nobody has waited for is still there, as a zombie.
  const status = `/proc/${pid}/stat`
  return existsSync(status) && !/\) Z /.test(readFileSync(status, 'utf8'))
}
