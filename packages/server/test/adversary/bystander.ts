/**
 * Somebody who has nothing to do with it: small pages, polls and single publications with keys of their own, each timed, in a process of
 * its own. It asks as ordinary clients do, and tries nothing twice: whatever is not answered as on a quiet day is an error.
 */
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { listPath } from '../support/http-client.ts'
import { percentiles } from './percentiles.ts'
import type { Percentiles } from './percentiles.ts'
import { workedMs } from './work-watch.ts'

export interface BystanderOrders {
  readonly port: number
  readonly readKey: string
  /** Read the same, each once in a while: what is known of such a key has been forgotten when it comes again. */
  readonly rareKeys: readonly string[]
  readonly publishKey: string
  /** Of the service. */
  readonly pid: number
}

/** Since it was last asked. */
export interface BystanderReport {
  readonly reads: Percentiles
  readonly publications: Percentiles
  /** On a new connection each, with one key after another. */
  readonly arrivals: Percentiles
  /** What was not answered as it should have been, at most ten of them. */
  readonly errors: readonly string[]
  readonly errorCount: number
  /**
   * The most milliseconds for which the service worked on other things while one of the requests waited. Arrivals are not among them: where
   * strangers fill the system's queue of new connections, it drops a client's first packet, which comes again after 1, 3 and 7 s.
   */
  readonly mostWorkMs: number
}

/** As long as an impatient client waits. */
const patienceMs = 20_000

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Of a problem. */
  readonly code: string
}

type Times = { readonly reads: number[]; readonly publications: number[]; readonly arrivals: number[] }

function ask(
  port: number,
  agent: Agent | false,
  path: string,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const signal = AbortSignal.timeout(patienceMs)
    const asking = request({ host: '127.0.0.1', port, path, agent, method, headers, signal }, (answer) => {
      const { statusCode: status = 0, headers } = answer
      let text = ''
      answer
        .on('data', (bytes: Buffer) => (text = status < 400 ? '' : text + bytes.toString()))
        .on('error', reject)
        .on('end', () => resolve({ status, headers, code: /"code":"(\w+)"/.exec(text)?.[1] ?? '' }))
    })
    asking.on('error', reject).end(body)
  })
}

process.once('message', ({ port, readKey, rareKeys, publishKey, pid }: BystanderOrders) => {
  let times: Times = { reads: [], publications: [], arrivals: [] }
  let errors: string[] = []
  let errorCount = 0
  let mostWorkMs = 0

  const timed = async (
    kind: keyof Times,
    expected: readonly number[],
    asking: () => Promise<Answer>,
  ): Promise<Answer | undefined> => {
    const [startMs, startWorkMs] = [performance.now(), workedMs(pid)]
    const failed = (what: string): void => {
      errorCount += 1
      if (errors.length < 10)
        errors.push(`${kind}: ${what} after ${(performance.now() - startMs).toFixed(0)} ms`)
    }
    try {
      const answer = await asking()
      if (!expected.includes(answer.status)) failed(`answered ${answer.status} ${answer.code}`)
      times[kind].push(performance.now() - startMs)
      if (kind !== 'arrivals') mostWorkMs = Math.max(mostWorkMs, Math.round(workedMs(pid) - startWorkMs))
      return answer
    } catch (error) {
      failed(
        error instanceof Error && 'code' in error ? `${String(error.code)} ${error.message}` : String(error),
      )
      return undefined
    }
  }

  /** Polls a small page, and takes it where it has changed. */
  const read = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let etag = ''; ; await delay(40)) {
      const headers = { 'x-api-key': readKey, ...(etag === '' ? {} : { 'if-none-match': etag }) }
      const answer = await timed('reads', [200, 304], () =>
        ask(port, agent, `${listPath}?pageSize=10`, headers),
      )
      etag = etag === '' ? (answer?.headers.etag ?? '') : ''
    }
  }
  const publish = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (; ; await delay(100)) {
      const headers = { 'x-api-key': publishKey, 'content-type': 'application/json' }
      const body = JSON.stringify({ payload: { agent_ref: randomUUID(), published: true } })
      await timed('publications', [201], () => ask(port, agent, '/v1/property-events', headers, body))
    }
  }
  const arrive = async (): Promise<void> => {
    for (let index = 0; ; index += 1) {
      const headers = { 'x-api-key': rareKeys[index % rareKeys.length] }
      await timed('arrivals', [200], () => ask(port, false, `${listPath}?pageSize=1`, headers))
      await delay(200)
    }
  }
  void Promise.all([read(), publish(), arrive()])

  process.on('message', () => {
    const report: BystanderReport = {
      reads: percentiles(times.reads),
      publications: percentiles(times.publications),
      arrivals: percentiles(times.arrivals),
      errors,
      errorCount,
      mostWorkMs,
    }
    process.send?.(report)
    times = { reads: [], publications: [], arrivals: [] }
    errors = []
    errorCount = 0
    mostWorkMs = 0
  })
})
process.once('disconnect', () => process.exit())
process.send?.('ready')
