/** A sync together with `--results`: the site's reports are sent before it or, while it follows, beside it. */
import { statSync } from 'node:fs'
import { createClient } from '@property-events/client'
import { retryDuringOutages, outageNotices } from '../outage.ts'
import type { Output } from '../../output.ts'
import { readChunks } from '../../publishing/source.ts'
import { Refusal } from '../../refusal.ts'
import { connectionRefusal } from '../../service-client.ts'
import type { ServiceAddress } from '../../service-client.ts'
import { plainText } from '../../terminal-text.ts'
import type { BadLine, ResultTotals } from './send-results.ts'
import { sendResults } from './send-results.ts'

/** More bad lines than this are counted and not listed. */
const maxListed = 1_000

interface ResultsSource {
  /** Follows the output of a program, as long as that runs. */
  readonly isStream: boolean
  readonly chunks: () => AsyncIterable<Buffer>
  readonly close: () => void
}

/** A file, or standard input for `-`. Throws a `Refusal` if it cannot be used. */
export function openResults(path: string): ResultsSource {
  if (path === '-') {
    if (process.stdin.isTTY)
      throw new Refusal('Name a file for --results, or send the results to standard input.')
    return { isStream: true, chunks: () => process.stdin, close: () => void process.stdin.destroy() }
  }
  if (!statSync(path).isFile())
    throw new Refusal(`${plainText(path)} is not a file. Send it to standard input with --results -.`)
  return { isStream: false, chunks: () => readChunks(path), close: () => undefined }
}

export interface ResultsReport {
  readonly totals: ResultTotals
  /** The first of them. */
  readonly badLines: readonly BadLine[]
}

interface WithResults {
  readonly source: ResultsSource
  readonly address: ServiceAddress
  readonly follow: boolean
  readonly output: Output
  /** Ends both. */
  readonly stop: AbortSignal
}

/** `sync`: ends with the signal that it is given. Rejects with the first failure; the other part is then ended. */
export async function withResults<Result>(
  { source, address, follow, output, stop }: WithResults,
  sync: (signal: AbortSignal) => Promise<Result>,
): Promise<{ readonly result: Result; readonly report: ResultsReport }> {
  const over = new AbortController()
  const signal = AbortSignal.any([stop, over.signal])
  const badLines: BadLine[] = []
  let totals: ResultTotals = { sent: 0, refused: 0, unknown: 0, throughLine: 0 }
  const say = (line: string): void => output.say(line)
  const notices = follow ? {} : outageNotices(address, say, follow)
  const run = {
    client: createClient({ ...address, ...notices }),
    chunks: source.chunks(),
    signal,
    retrying: <T>(work: () => Promise<T>) => (follow ? retryDuringOutages(work, { say, signal }) : work()),
    onBadLine(bad: BadLine) {
      if (badLines.length < maxListed) badLines.push(bad)
      else return
      if (!output.json) say(`refused: ${badLineText(bad)}`)
    },
  }
  const sending = async (): Promise<void> => {
    try {
      await sendResults(run, (now) => void (totals = now))
    } catch (error) {
      over.abort()
      throw stoppedAt(connectionRefusal(error, address.baseUrl), totals)
    } finally {
      source.close()
    }
  }
  const isBeside = follow && source.isStream
  const sent = isBeside ? sending() : undefined
  sent?.catch(() => undefined)
  if (!isBeside) await sending()
  try {
    const result = await sync(signal)
    over.abort()
    await sent
    return { result, report: { totals, badLines } }
  } finally {
    over.abort()
    await sent?.catch(() => undefined)
  }
}

function stoppedAt(error: unknown, { sent, throughLine }: ResultTotals): unknown {
  if (!(error instanceof Error) || throughLine === 0) return error
  return new Refusal(
    `${error.message}\nStopped after line ${throughLine} of the results: ${number(sent)} were accepted. The same file can be sent again as it is.`,
    { cause: error },
  )
}

export function resultsText({ sent, refused, unknown }: ResultTotals): string {
  const parts = [
    `${number(sent)} ${sent === 1 ? 'result' : 'results'} accepted`,
    ...(unknown === 0 ? [] : [`${number(unknown)} of properties that the feed does not have`]),
    ...(refused === 0 ? [] : [`${number(refused)} ${refused === 1 ? 'line' : 'lines'} refused`]),
  ]
  return parts.join(', ')
}

function badLineText({ line, pointer, message, code }: BadLine): string {
  const at = pointer === '' ? '' : ` at ${plainText(pointer)}`
  return `line ${line}${at}: ${plainText(message)} (${plainText(code)})`
}

function number(value: number): string {
  return value.toLocaleString('en-GB')
}
