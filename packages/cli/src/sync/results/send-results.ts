/**
 * `sync --results`: reads what became of properties at the site, one JSON object per line, and reports it to the service (PROTOCOL
 * §14.5). Every line can be sent again: the service keeps the last report on each property.
 */
import { AbortedError, ConflictError, InvalidRequestError } from '@property-events/client'
import type { Client, ConsumerResult } from '@property-events/client'
import { withoutMark } from '../../publishing/source.ts'
import { splitLines } from '../../publishing/split.ts'
import type { Piece } from '../../publishing/split.ts'

interface ResultsRun {
  readonly client: Pick<Client, 'report'>
  readonly chunks: AsyncIterable<Buffer>
  readonly onBadLine: (bad: BadLine) => void
  /** Repeats the request while the service is away, if the run is a lasting one. */
  readonly retrying: <Result>(work: () => Promise<Result>) => Promise<Result>
  /** Ends the reading. What has been read is still sent. */
  readonly signal: AbortSignal
}

export interface ResultTotals {
  /** Kept by the service. */
  readonly sent: number
  /** Lines that were refused. */
  readonly refused: number
  /** Results for properties that the feed does not have. */
  readonly unknown: number
  /** Lines up to here were answered. */
  readonly throughLine: number
}

/** The most that the service accepts in one request, and well below its limit of bytes. */
const mostResults = 1_000
const mostBytes = 2 * 2 ** 20
const waitMs = 1_000

/** `onTotals`: called after each request. Rejects as the client does; earlier answered requests stay. */
export async function sendResults(
  run: ResultsRun,
  onTotals: (totals: ResultTotals) => void,
): Promise<ResultTotals> {
  let totals: ResultTotals = { sent: 0, refused: 0, unknown: 0, throughLine: 0 }
  const limits = { most: mostResults, mostBytes, waitMs, signal: run.signal }
  const lines = splitLines(withoutMark(run.chunks), maxResultBytes)
  for await (const pieces of batchLines(lines, limits, ({ bytes }) => bytes?.length ?? 0)) {
    const read = pieces.map(readResult)
    const bad = read.filter((one) => 'pointer' in one)
    const good = read.filter((one) => 'result' in one)
    const { sent, unknown, refused } = await sendLines(run, good)
    for (const one of [...bad, ...refused].toSorted((a, b) => a.line - b.line)) run.onBadLine(one)
    totals = {
      sent: totals.sent + sent,
      refused: totals.refused + bad.length + new Set(refused.map(({ line }) => line)).size,
      unknown: totals.unknown + unknown,
      throughLine: pieces.at(-1)?.line ?? totals.throughLine,
    }
    onTotals(totals)
  }
  return totals
}

interface SendOutcome {
  readonly sent: number
  readonly unknown: number
  readonly refused: readonly BadLine[]
}

const nothing: SendOutcome = { sent: 0, unknown: 0, refused: [] }

/** A request is accepted or refused as a whole: the lines that caused a refusal are left out, and the others sent. */
async function sendLines(run: ResultsRun, lines: readonly ResultLine[]): Promise<SendOutcome> {
  if (lines.length === 0) return nothing
  try {
    const { stored, unknown } = await sendOnce(
      run,
      lines.map(({ result }) => result),
    )
    return { sent: stored, unknown: unknown.length, refused: [] }
  } catch (error) {
    if (error instanceof InvalidRequestError) {
      const refused = linesOf(error, lines)
      const left = lines.filter(({ line }) => !refused.some((one) => one.line === line))
      if (left.length < lines.length) return joined({ ...nothing, refused }, await sendLines(run, left))
    }
    if (!(error instanceof ConflictError) || error.code !== 'cursor_beyond_head') throw error
    const [line] = lines
    if (line !== undefined && lines.length === 1) {
      const message = `The feed has no event ${line.result.sequenceNumber} yet.`
      const one = { line: line.line, code: error.code, pointer: '/sequenceNumber', message }
      return { ...nothing, refused: [one] }
    }
    const middle = Math.ceil(lines.length / 2)
    return joined(await sendLines(run, lines.slice(0, middle)), await sendLines(run, lines.slice(middle)))
  }
}

/** A run that is stopped meanwhile still sends what it has read, once. */
async function sendOnce({ client, retrying, signal }: ResultsRun, results: readonly ConsumerResult[]) {
  try {
    return await retrying(() => client.report(results, { signal }))
  } catch (error) {
    if (!(error instanceof AbortedError)) throw error
    return client.report(results)
  }
}

function linesOf({ faults }: InvalidRequestError, lines: readonly ResultLine[]): readonly BadLine[] {
  return faults.flatMap(({ pointer = '', code, message }) => {
    const [, index, member = ''] = /^\/(\d+)(\/.*)?$/.exec(pointer) ?? []
    const line = index === undefined ? undefined : lines[Number(index)]
    return line === undefined ? [] : [{ line: line.line, code, pointer: member, message }]
  })
}

function joined(one: SendOutcome, other: SendOutcome): SendOutcome {
  return {
    sent: one.sent + other.sent,
    unknown: one.unknown + other.unknown,
    refused: [...one.refused, ...other.refused],
  }
}

interface BatchLimits {
  readonly most: number
  readonly mostBytes: number
  /** A batch that is not full is sent after its first line has waited this long. */
  readonly waitMs: number
  /** Ends the reading; what has been gathered is the last batch. */
  readonly signal: AbortSignal
}

/** `bytesOf`: the size of a line. */
async function* batchLines<Line>(
  lines: AsyncIterable<Line>,
  { most, mostBytes, waitMs, signal }: BatchLimits,
  bytesOf: (line: Line) => number,
): AsyncGenerator<readonly Line[]> {
  const iterator = lines[Symbol.asyncIterator]()
  const stopped = stopOf(signal)
  let gathered: Line[] = []
  let bytes = 0
  let clock = clockOf(Infinity)
  let next = iterator.next()
  // Once reading has ended, nobody handles its later rejection.
  next.catch(() => undefined)
  try {
    for (;;) {
      const arrived = await Promise.race([next, clock.over, stopped.over])
      const line = typeof arrived === 'string' || arrived.done === true ? undefined : arrived
      if (line !== undefined) {
        if (gathered.length === 0) clock = clockOf(waitMs)
        gathered.push(line.value)
        bytes += bytesOf(line.value)
        next = iterator.next()
        next.catch(() => undefined)
        if (gathered.length < most && bytes < mostBytes) continue
      }
      clock.stop()
      if (gathered.length > 0) yield gathered
      gathered = []
      bytes = 0
      clock = clockOf(Infinity)
      if (line === undefined && arrived !== 'waited') return
    }
  } finally {
    clock.stop()
    stopped.forget()
  }
}

function clockOf(ms: number): { readonly over: Promise<'waited'>; readonly stop: () => void } {
  if (ms === Infinity) return { over: new Promise(() => undefined), stop: () => undefined }
  const { promise: over, resolve } = Promise.withResolvers<'waited'>()
  const timer = setTimeout(() => resolve('waited'), ms)
  return { over, stop: () => clearTimeout(timer) }
}

function stopOf(signal: AbortSignal): { readonly over: Promise<'stopped'>; readonly forget: () => void } {
  const { promise: over, resolve } = Promise.withResolvers<'stopped'>()
  const stop = (): void => resolve('stopped')
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return { over, forget: () => signal.removeEventListener('abort', stop) }
}

/** A line of `sync --results`: what became of a property at the site (PROTOCOL §14.5). The service checks the values. */

/** A result with the longest texts has some 3 kB. */
const maxResultBytes = 16 * 2 ** 10

/** A line, and what was wrong with it. */
export interface BadLine {
  readonly line: number
  readonly code: string
  /** Inside the line; empty: the line itself. */
  readonly pointer: string
  readonly message: string
}

interface ResultLine {
  readonly line: number
  readonly result: ConsumerResult
}

const outcomes: readonly unknown[] = ['live', 'held', 'refused']
const example = '{"agentRef": "…", "sequenceNumber": 7, "outcome": "live", "url": "https://…"}'

function readResult({ line, bytes }: Pick<Piece, 'line' | 'bytes'>): ResultLine | BadLine {
  const bad = (code: string, message: string, pointer = ''): BadLine => ({ line, code, pointer, message })
  if (bytes === undefined) return bad('too_long', `A line may have at most ${maxResultBytes} bytes.`)
  const value = parsed(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return bad('not_an_object', `A line is one JSON object in UTF-8, such as ${example}.`)
  }
  const given = Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
  if (isResult(given)) return { line, result: given }
  for (const [member, isRight, words] of rules) {
    if (!isRight(given[member]))
      return bad(given[member] === undefined ? 'missing' : 'wrong_type', words, `/${member}`)
  }
  return bad('not_a_result', `A line looks like ${example}.`)
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isTextOrAbsent = (value: unknown): boolean => value === undefined || isText(value)

const rules: readonly (readonly [string, (value: unknown) => boolean, string])[] = [
  ['agentRef', isText, 'agentRef is the reference of the property, a UUID.'],
  [
    'sequenceNumber',
    (value) => Number.isSafeInteger(value),
    'sequenceNumber is the number of the event that the site has applied.',
  ],
  ['outcome', (value) => outcomes.includes(value), 'outcome is one of live, held, refused.'],
  ['code', isTextOrAbsent, 'code is a word of your own.'],
  ['message', isTextOrAbsent, 'message is a text.'],
  ['url', isTextOrAbsent, 'url is the address of the page.'],
]

/** Further members are left to the service, which names them. */
function isResult(
  value: Readonly<Record<string, unknown>>,
): value is Record<string, unknown> & ConsumerResult {
  return rules.every(([member, isRight]) => isRight(value[member]))
}

/** `undefined`: not UTF-8, or not JSON. Windows programs often begin a file with a byte order mark. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}
