/**
 * What the bare socket saves beside Node's HTTP, which answers everything with `--plain-connections off`: processor time of the reads that
 * clients repeat, and memory with connections that wait or rest. Decision 0011 stands or goes with it.
 */
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { byIdPath, checkAnswers, listPath, pageTarget, readingSet } from '../support/reading-set.ts'
import type { ReadingSet } from '../support/reading-set.ts'
import { get, getCase } from '../support/requests.ts'
import { untilQuiet } from '../support/server.ts'
import type { RunningServer } from '../support/server.ts'
import { startService } from '../support/service.ts'
import { keysOf, tenantIdOf } from '../support/store.ts'
import type { BenchOptions } from './context.ts'

const [bare, node] = ['the bare socket', 'Node’s HTTP']
const job = 'transports'

/** A key may have 20 requests waiting. */
const waitingOfKey = 20
const waiting = 1_000
const resting = 4_000
/** By then the garbage of connecting has been collected. Shorter than a long-poll waits, which is 30 s. */
const settleMs = 22_000

export async function benchTransports(options: BenchOptions): Promise<void> {
  const set = await readingSet(options.events, options.averageBytes)
  const place = { kind: 'sqlite', folder: set.folder } as const
  const owners = Array.from({ length: waiting / waitingOfKey }, () => tenantIdOf(0))
  const keys = await keysOf(place, set.folder, owners)
  // A data folder has one server at a time.
  const other = join(options.folder, 'transports')
  cpSync(set.folder, other, { recursive: true, filter: (path) => !path.startsWith(set.files) })
  const ways = [
    { subject: bare, folder: set.folder, args: [] },
    { subject: node, folder: other, args: ['--plain-connections', 'off'] },
  ] as const
  const memory: Case[] = []
  for (const { subject, folder, args } of ways) {
    for (const caseOf of [waitingCase, restingCase]) {
      await using server = await startService(folder, { args })
      const entry = caseOf(subject, server, keys, options.events)
      await measure({ ...options, runs: 1 }, job, [entry])
      memory.push(entry)
    }
  }
  await using bareServer = await startService(set.folder)
  await using nodeServer = await startService(other, { args: ways[1].args })
  const cases: Case[] = []
  for (const [subject, server] of [
    [bare, bareServer],
    [node, nodeServer],
  ] as const) {
    await checkAnswers(server, set)
    cases.push(...(await readCases(options, subject, server, set)))
  }
  // Case by case, so that the two ways of one are measured one after the other.
  const paired = cases.toSorted((one, two) => one.what.localeCompare(two.what))
  await measure(options, job, paired)
  for (const what of new Set([...memory, ...cases].map((entry) => entry.what))) aimAt(options, what)
}

/** Within this, one transport would be enough. */
const enough = 1.3

function aimAt(options: BenchOptions, what: string): void {
  options.aim({
    job,
    text: `${what}: Node’s HTTP of the bare socket, which goes if all are within`,
    figure:
      what.includes('connections') || what.includes('long-polls') ? 'memoryMiB' : 'cpuMicrosecondsPerRequest',
    ours: { subject: node, what },
    theirs: { subject: bare, what },
    wanted: { atMost: enough },
  })
}

async function readCases(
  options: BenchOptions,
  subject: string,
  server: RunningServer,
  { key, pages, ids }: ReadingSet,
): Promise<readonly Case[]> {
  const last = `${listPath}?page=${pages + 1}`
  const tag = String((await get(server.url + last, { 'x-api-key': key })).headers['etag'])
  const every = Array.from({ length: pages }, (_, index) => pageTarget(index + 1, 100))
  const common = { subject, server, key, warmRuns: 2 }
  return [
    getCase(options, { ...common, what: 'polls, 304', targets: [last], tag }),
    getCase(options, { ...common, what: 'pages of 100', targets: every }),
    getCase(options, { ...common, what: 'pages of 100, gzip', targets: every, gzip: true }),
    getCase(options, { ...common, what: 'one event', targets: ids.map((id) => `${byIdPath}/${id}`) }),
  ]
}

/** The memory of a service with a thousand long-polls. */
function waitingCase(subject: string, server: RunningServer, keys: readonly string[], head: number): Case {
  const path = `/v1/property-events?after=${head}&wait=30`
  const requests = Array.from({ length: waiting }, (_, index) =>
    requestOf(path, keys[index % keys.length] ?? ''),
  )
  return memoryCase(subject, server, `${waiting} long-polls`, requests)
}

/** The memory of a service with connections that have asked once and rest. */
function restingCase(subject: string, server: RunningServer, [key = '']: readonly string[]): Case {
  const requests = Array.from({ length: resting }, () => requestOf('/v1/heads', key))
  return memoryCase(subject, server, `${resting} idle connections`, requests)
}

function memoryCase(subject: string, server: RunningServer, what: string, requests: readonly string[]): Case {
  return {
    subject,
    what,
    warmRuns: 0,
    async run() {
      const sockets = await holdAll(server, requests)
      await untilQuiet(server)
      await delay(settleMs)
      const memoryMiB = server.memoryMiB()
      for (const socket of sockets) socket.destroy()
      return { requestsPerSecond: 0, megabytesPerSecond: 0, p50Ms: 0, p99Ms: 0, errors: 0, memoryMiB }
    },
  }
}

function requestOf(path: string, key: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\naccept: */*\r\n\r\n`
}

/** A connection for each request, open until it is destroyed. */
async function holdAll(server: RunningServer, requests: readonly string[]): Promise<readonly Socket[]> {
  const port = Number(new URL(server.url).port)
  const sockets: Socket[] = []
  for (const request of requests) {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.on('error', () => undefined).on('data', () => undefined)
    socket.write(request)
    sockets.push(socket)
  }
  return sockets
}
