/**
 * Many readers that wait, and a publisher: one process on the load's core. The first line of its input says whom to ask; it prints a line
 * when all wait, rests until the next line of its input, and prints how long each event took to each reader, from the moment its
 * publication was sent.
 */
import { Agent, request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { warmRounds } from '../support/live-rounds.ts'

export interface LiveLoad {
  readonly port: number
  readonly kind: 'stream' | 'wait'
  /** One for each reader: keys differ where a key may wait only so often. */
  readonly readers: readonly { readonly path: string; readonly headers: Readonly<Record<string, string>> }[]
  /** How a reader that waits asks for what comes next. */
  readonly continues: 'ours' | 'nchan' | 'durable'
  readonly publish: { readonly path: string; readonly headers: Readonly<Record<string, string>> }
  /** `{mark}` stands for what each round is known by. */
  readonly body: string
  readonly rounds: number
  readonly pauseMs: number
}

export interface LiveTimes {
  /** Of each round: to the last of all readers. */
  readonly lastMs: readonly number[]
  /** Of all readers and rounds. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly missed: number
}

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const load: LiveLoad = JSON.parse(String((await input.next()).value))
const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
const [markStart, markLength] = ['mark-', 'mark-000000-end'.length]
const markOf = (round: number): string => `${markStart}${String(round).padStart(6, '0')}-end`

/** When each round was found, by reader. */
const found = load.readers.map(() => new Map<string, number>())

function note(reader: number, text: string): void {
  const nowMs = performance.now()
  for (let at = text.indexOf(markStart); at !== -1; at = text.indexOf(markStart, at + 1)) {
    const mark = text.slice(at, at + markLength)
    if (!found[reader]?.has(mark)) found[reader]?.set(mark, nowMs)
  }
}

/** Asks, gives each piece of text to `onText`, and resolves with the headers at the end. */
function ask(
  path: string,
  headers: Readonly<Record<string, string>>,
  onText: (text: string) => void,
  onOpen: () => void = () => undefined,
): Promise<{ readonly status: number; readonly headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port: load.port, path, headers, agent }, (incoming) => {
      onOpen()
      incoming.setEncoding('latin1')
      incoming.on('data', onText)
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers }))
      incoming.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

function follow(reader: number): Promise<void> {
  const { path = '', headers = {} } = load.readers[reader] ?? {}
  let rest = ''
  return new Promise((opened) => {
    ask(
      path,
      headers,
      (text) => {
        note(reader, rest + text)
        rest = (rest + text).slice(1 - markLength)
      },
      opened,
    ).catch((error: unknown) => {
      console.error(error)
      process.exitCode = 1
    })
  })
}

async function wait(reader: number): Promise<void> {
  const { path = '', headers = {} } = load.readers[reader] ?? {}
  let [next, more] = [path, headers]
  for (;;) {
    let text = ''
    const answer = await ask(next, more, (piece) => (text += piece))
    note(reader, text)
    ;[next, more] = continued(path, headers, text, answer.headers) ?? [next, more]
    if (answer.status >= 400) await delay(100)
  }
}

function continued(
  path: string,
  headers: Readonly<Record<string, string>>,
  text: string,
  said: IncomingHttpHeaders,
): readonly [string, Readonly<Record<string, string>>] | undefined {
  if (load.continues === 'ours') {
    const after = /"next":(\d+)/.exec(text.slice(-200))?.[1]
    return after === undefined ? undefined : [path.replace(/after=\d+/, `after=${after}`), headers]
  }
  if (load.continues === 'nchan') {
    const { 'last-modified': modified, etag } = said
    if (modified === undefined || etag === undefined) return undefined
    return [path, { ...headers, 'if-modified-since': modified, 'if-none-match': etag }]
  }
  const offset = said['stream-next-offset']
  const cursor = said['stream-cursor']
  if (typeof offset !== 'string') return undefined
  const base = path.replace(/offset=[^&]*/, `offset=${offset}`)
  return [typeof cursor === 'string' ? `${base}&cursor=${cursor}` : base, headers]
}

function publish(mark: string): Promise<void> {
  const body = load.body.replace('{mark}', mark)
  const headers = { ...load.publish.headers, 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port: load.port, path: load.publish.path, method: 'POST', headers, agent },
      (incoming) => {
        incoming.resume()
        incoming.on('end', () => {
          if ((incoming.statusCode ?? 500) < 300) resolve()
          else reject(new Error(`publishing was answered ${incoming.statusCode}`))
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const patienceMs = 10_000

async function round(number: number, times: number[], lastMs: number[]): Promise<number> {
  const mark = markOf(number)
  const startedMs = performance.now()
  await publish(mark)
  const isThere = (): boolean => found.every((marks) => marks.has(mark))
  while (!isThere() && performance.now() - startedMs < patienceMs) await delay(5)
  const own = found.flatMap((marks) => marks.get(mark) ?? []).map((ms) => ms - startedMs)
  times.push(...own)
  lastMs.push(Math.max(...own))
  return found.length - own.length
}

async function run(): Promise<void> {
  if (load.kind === 'stream') {
    for (let from = 0; from < load.readers.length; from += 50)
      await Promise.all(load.readers.slice(from, from + 50).map((_, index) => follow(from + index)))
  } else for (const [index] of load.readers.entries()) void wait(index)
  await delay(2_000)
  console.log('waiting')
  await input.next()
  const times: number[] = []
  const lastMs: number[] = []
  let missed = 0
  for (let number = 0; number < warmRounds; number += 1) await round(number, [], [])
  for (let number = warmRounds; number < load.rounds + warmRounds; number += 1) {
    missed += await round(number, times, lastMs)
    await delay(load.pauseMs)
  }
  times.sort((one, other) => one - other)
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  const result: LiveTimes = { lastMs, p50Ms: at(0.5), p99Ms: at(0.99), missed }
  console.log(JSON.stringify(result))
  process.exit(0)
}

await run()
