/** The carried Node, the ports and the disk. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import type { ServedAt } from '@property-events/server'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'
import { faultOfCarried, findCarried } from '../../carried-node/index.mjs'
import type { CarriedNode, KnownNode } from '../../carried-node/index.mjs'

interface ListenAddress {
  readonly host: string
  readonly port: number
}

/**
 * The port of the service, and that of metrics and health checks: `serve` needs both. Those of a service that runs on the data folder are the
 * ones it listens on, whatever this command was told.
 */
export async function checkPorts(
  service: ListenAddress,
  metrics: ListenAddress,
  served: ServedAt | 'starting' | undefined,
): Promise<readonly Finding[]> {
  if (typeof served === 'object') {
    const { url, metricsUrl } = served
    return [
      ok('port', `the service of this data folder listens at ${url}`),
      ok('metrics port', metricsUrl === undefined ? 'off' : `its metrics are at ${metricsUrl}`),
    ]
  }
  const same = service.port !== 0 && service.port === metrics.port && service.host === metrics.host
  return [
    await checkPort('port', service, served !== undefined),
    same
      ? fail('metrics port', `${metrics.port} is the service's own`, 'Choose another with --metrics-port.')
      : await checkPort('metrics port', metrics, served !== undefined),
  ]
}

async function checkPort(
  check: 'port' | 'metrics port',
  { host, port }: ListenAddress,
  served: boolean,
): Promise<Finding> {
  const flag = check === 'port' ? '--port' : '--metrics-port'
  if (port === 0) return ok(check, 'any free one')
  const code = await listenFault(host, port)
  if (code === undefined) return ok(check, `${port} on ${host} is free`)
  if (code === 'EADDRINUSE') {
    return served
      ? ok(check, `${port} on ${host} is taken, and a service of this data folder is starting`)
      : fail(
          check,
          `${port} on ${host} is taken by another program`,
          `Stop that program, or choose another with ${flag}.`,
        )
  }
  if (code === 'EACCES') {
    return fail(check, `this user may not listen on ${port}`, `Choose a port above 1023 with ${flag}.`)
  }
  return fail(
    check,
    `cannot listen on ${host}:${port} (${code})`,
    `Choose an address of this machine with ${check === 'port' ? '--host' : '--metrics-host'}.`,
  )
}

function listenFault(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve('code' in error ? String(error.code) : error.message))
    server.listen({ host, port }, () => server.close(() => resolve(undefined)))
  })
}

const megabyte = 1e6

export function checkDiskSpace(folder: string): Finding {
  const free = freeBytes(folder)
  const detail = `${(free / 1e9).toFixed(1)} GB free`
  const remedy = 'Free some space: when the disk is full, publishing is refused and reading continues.'
  if (free < 100 * megabyte) return fail('disk space', detail, remedy)
  return free < 1000 * megabyte ? warn('disk space', detail, remedy) : ok('disk space', detail)
}

/** With a database, a node keeps only ready-made pages in its folder. */
export function checkPageSpace(folder: string): Finding {
  const free = freeBytes(folder)
  const detail = `${(free / 1e9).toFixed(1)} GB free for cached pages in ${folder}`
  if (free >= 1000 * megabyte) return ok('disk space', detail)
  return warn(
    'disk space',
    detail,
    'Free some space, or set --page-file-bytes 0: without room, pages are read from the database each time.',
  )
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(nearestFolder(folder))
  return bavail * bsize
}

const probes = 50

/** A commit is one flush (P7); at 20 ms a single publisher gets 50 answers a second. */
const slowFlushMs = 20

/** Writes and flushes 4 kB several times, as a commit does, in a file that is removed again. */
export function checkFlushSpeed(folder: string): Finding {
  const probed = nearestFolder(folder)
  const path = join(probed, `.flush-probe-${process.pid}`)
  try {
    const file = openSync(path, 'wx', 0o600)
    try {
      const data = randomBytes(4096)
      const times: number[] = []
      for (let probe = 0; probe < probes; probe += 1) {
        const start = performance.now()
        writeSync(file, data)
        fsyncSync(file)
        times.push(performance.now() - start)
      }
      times.sort((a, b) => a - b)
      const medianMs = times[Math.floor(probes / 2)] ?? 0
      const detail = `a flushed write of 4 kB takes ${medianMs.toFixed(2)} ms (median of ${probes}, slowest ${(times.at(-1) ?? 0).toFixed(1)} ms)`
      if (medianMs <= slowFlushMs) return ok('flush speed', detail)
      return warn(
        'flush speed',
        detail,
        'Every acknowledged publish waits for a flush: put --data on a local SSD.',
      )
    } finally {
      closeSync(file)
      rmSync(path)
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return fail(
      'flush speed',
      `cannot write in ${probed} (${code})`,
      'Give this user the folder, or choose another with --data.',
    )
  }
}

/** The folder itself, or the one that it would be made in. */
function nearestFolder(folder: string): string {
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  const parent = dirname(folder)
  return isFolder || parent === folder ? folder : nearestFolder(parent)
}

const oldestMajor = 24

interface RunningNode {
  /** Such as `26.10.0`. */
  readonly version: string
  readonly path: string
  readonly carried: CarriedNode | undefined
}

/** The running Node, where it comes from, and whether it is the one that was published. */
export function thisNode(): RunningNode {
  return { version: process.versions.node, path: process.execPath, carried: findCarried() }
}

/** Reads the whole program of a carried Node, even if it has been read before, unless `again` is false. */
export function checkNode(
  { version, path, carried }: RunningNode,
  { again }: { readonly again: boolean } = { again: true },
): Finding {
  if (Number.parseInt(version, 10) < oldestMajor) {
    const remedy = `Install Node ${oldestMajor} or newer from https://nodejs.org.`
    return fail('node', `v${version} at ${path} is too old`, remedy)
  }
  if (carried === undefined || realpathSync(carried.path) !== realpathSync(path)) {
    return ok('node', `v${version} at ${path}, from this machine: its checksum is not verified`)
  }
  const fault = faultOfCarried(carried, { again })
  if (fault !== undefined) return fail('node', fault.detail, fault.remedy)
  return ok(
    'node',
    `v${version} at ${path}, from ${carried.known.package} ${carried.version}: ${provenances[carried.known.compared](carried.known.published.file)}`,
  )
}

const provenances = {
  here: (file) => `SHA-256 matches the checksum of ${file} published by nodejs.org`,
  elsewhere: (file) =>
    `SHA-256 matches the published checksum of ${file}, as others have it from nodejs.org (docs/supply-chain.md)`,
  nowhere: (file) =>
    `SHA-256 matches the package, which nobody has compared with ${file} of nodejs.org (docs/supply-chain.md)`,
} as const satisfies Record<KnownNode['compared'], (file: string) => string>
