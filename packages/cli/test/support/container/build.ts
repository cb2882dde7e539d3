/**
 * Carries out the container file without a container runtime, in namespaces of its own: each stage in a root that begins as this
 * machine (in place of the base image, with the Node that is known here), each step as it stands. Then starts what came out as a
 * container would: as its user, without rights, on a root that cannot be written to. Prints what it found as JSON.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../../../../server/test/support/free-ports.ts'
import { instructionsIn } from '../container-file.ts'
import type { Instruction } from '../container-file.ts'
import { root } from '../documents.ts'

const [place = ''] = process.argv.slice(2)

interface Stage {
  readonly path: string
  readonly environment: Record<string, string>
  readonly said: Record<string, readonly string[]>
  workingFolder: string
}

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

function shell(script: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-euc', script, 'sh', ...args], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, `${script}\n${stdout}${stderr}`)
  return stdout
}

/** This machine as a lower layer, and the known Node before its own. */
function begin(name: string): Stage {
  const stage = join(place, name)
  shell(
    `mkdir -p "$1/upper" "$1/work" "$1/root"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
    mount -t proc proc "$1/root/proc"
    mount --rbind /dev "$1/root/dev"
    mount -t tmpfs tmpfs "$1/root/tmp"
    mkdir -p "$1/root/usr/local/bin"
    cp "$2" "$1/root/usr/local/bin/node"
    # As the base image has it; this machine may have others of these numbers.
    id node >/dev/null 2>&1 && exit
    chroot "$1/root" groupadd --non-unique --gid 1000 node
    chroot "$1/root" useradd --non-unique --uid 1000 --gid 1000 node`,
    stage,
    process.execPath,
  )
  return { path: join(stage, 'root'), environment: {}, said: {}, workingFolder: '/' }
}

/** As the build gets it: without what .dockerignore keeps back. */
function fromClone(source: string): boolean {
  return !/\/node_modules(\/|$)|\/packages\/[a-z]+\/test(\/|$)/.test(source)
}

function copy(stage: Stage, words: readonly string[], stages: ReadonlyMap<string, Stage>): void {
  const [, from] = /^--from=(.*)$/.exec(words[0] ?? '') ?? []
  const sources = words.slice(from === undefined ? 0 : 1, -1)
  const target = join(stage.path, stage.workingFolder, words.at(-1) ?? '')
  const absolute = words.at(-1)?.startsWith('/') === true ? join(stage.path, words.at(-1) ?? '') : target
  for (const source of sources) {
    const origin = from === undefined ? join(root, source) : join(stages.get(from)?.path ?? '', source)
    // Into a folder where it ends with a slash, in its place otherwise.
    const into = words.at(-1)?.endsWith('/') === true ? join(absolute, basename(source)) : absolute
    cpSync(origin, into, {
      recursive: true,
      filter: from === undefined ? fromClone : () => true,
      verbatimSymlinks: true,
    })
  }
}

function step(stage: Stage, { name, text, words }: Instruction, stages: ReadonlyMap<string, Stage>): void {
  switch (name) {
    case 'WORKDIR':
      stage.workingFolder = words[0] ?? '/'
      mkdirSync(join(stage.path, stage.workingFolder), { recursive: true })
      return
    case 'ENV':
      for (const word of words) stage.environment[word.split('=')[0] ?? ''] = word.split('=')[1] ?? ''
      return
    case 'COPY':
      return copy(stage, words, stages)
    case 'RUN': {
      const variables = Object.entries({ PATH: path, HOME: '/root', ...stage.environment }).map((one) =>
        one.join('='),
      )
      shell(
        'root=$1 folder=$2 script=$3; shift 3; chroot "$root" env -i "$@" /bin/sh -c "cd $folder && $script"',
        stage.path,
        stage.workingFolder,
        text,
        ...variables,
      )
      return
    }
    default:
      stage.said[name] = words
  }
}

function build(): Stage {
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const instruction of instructionsIn(readFileSync(join(root, 'Dockerfile'), 'utf8'))) {
    if (instruction.name === 'FROM') {
      const name = instruction.words[2] ?? 'last'
      stage = begin(name)
      stages.set(name, stage)
    } else if (stage !== undefined) step(stage, instruction, stages)
  }
  assert.ok(stage !== undefined)
  return stage
}

/** A command in the container: its user, no rights, nothing to write to but its volume and /tmp. */
function inContainer(
  { path: rootFolder, environment, said, workingFolder }: Stage,
  command: readonly string[],
) {
  const [user = ''] = said['USER'] ?? []
  const [uid = '', gid = ''] = user.split(':')
  const variables = Object.entries({ PATH: path, HOME: '/home/node', ...environment }).map((one) =>
    one.join('='),
  )
  const rights = ['--reuid', uid, '--regid', gid, '--clear-groups', '--no-new-privs', '--bounding-set=-all']
  const inFolder = ['/bin/sh', '-c', `cd ${workingFolder} && exec "$@"`, 'sh']
  return ['setpriv', ...rights, 'env', '-i', ...variables, ...inFolder, ...command].flatMap((word, index) =>
    index === 0 ? ['chroot', rootFolder, word] : word,
  )
}

function succeed(stage: Stage, command: readonly string[]): string {
  const [program = '', ...args] = inContainer(stage, command)
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  assert.equal(status, 0, `${command.join(' ')}\n${stdout}${stderr}`)
  return stdout.trim()
}

const stage = build()
const [volume = ''] = stage.said['VOLUME'] ?? []
shell(
  'mount -t tmpfs -o mode=0700,uid=1000,gid=1000 tmpfs "$1$2"; mount -o remount,ro "$1"',
  stage.path,
  volume,
)
// The network is this machine's, where the usual ports may be taken.
const [port = 0, metricsPort = 0] = await freePorts(2)
stage.environment['PROPERTY_EVENTS_PORT'] = String(port)
stage.environment['PROPERTY_EVENTS_METRICS_PORT'] = String(metricsPort)
const [entry = [], given = []] = [stage.said['ENTRYPOINT'], stage.said['CMD']]
const check = stage.said['HEALTHCHECK'] ?? []
const health = check.slice(check.indexOf('CMD') + 1)
const [program = '', ...args] = inContainer(stage, [...entry, ...given])
const service = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
const isWell = () => spawnSync(...commandOf(health)).status === 0
function commandOf(command: readonly string[]): [string, string[]] {
  const [first = '', ...rest] = inContainer(stage, command)
  return [first, rest]
}
const deadlineMs = Date.now() + 60_000
while (!isWell()) {
  assert.ok(service.exitCode === null && Date.now() < deadlineMs, 'the service does not get well')
  await delay(250)
}
const cannotWrite = spawnSync(...commandOf(['touch', '/opt/property-events/x'])).status !== 0
succeed(stage, ['property-events', 'tenants', 'create', 'Hill & Co'])
const key = (scope: string) =>
  succeed(stage, ['property-events', 'keys', 'create', '--tenant', 'Hill & Co', '--scope', scope])
const publishing = `property-events generate --events 20 | property-events publish - --url http://127.0.0.1:${port} --key ${key('publish')}`
const published = succeed(stage, ['/bin/sh', '-c', publishing])
const ended = new Promise((resolve) => service.on('exit', resolve))
service.kill('SIGTERM')
const found = {
  version: succeed(stage, ['property-events', '--version']),
  published,
  cannotWrite,
  exitCode: await ended,
  megabytes: Number(shell('du -sm "$1/opt/property-events" | cut -f1', stage.path)),
}
process.stdout.write(`${JSON.stringify(found)}\n`)
