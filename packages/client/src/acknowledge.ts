/** Tells the service what has been applied, so that it can say who has seen what (PROTOCOL §14). */
import type { Connection } from './connection.ts'
import { InvalidOptionError } from './errors.ts'
import type { CallOptions } from './reading/get.ts'
import { openAnswer, requestJson } from './http/requests.ts'
import { isObject } from './decode.ts'
import { placedAfter } from './publish.ts'
import type { ProblemFault } from './wire.ts'
import { consumersPaths } from './wire-consumers.ts'
import type { ConsumerResult, ResultsReceipt } from './wire-consumers.ts'

/** The place that has been reached. */
export interface Applied {
  /** Everything up to this number has been applied. */
  readonly sequenceNumber: number
  /** The epoch of the number. */
  readonly epoch: string
}

/** The longest that a consumer waits for an answer that it does not need. */
const acknowledgeMs = 5_000

/** Makes one attempt only, because the next acknowledgement covers more. Rejects as every call does. */
export async function acknowledge(
  connection: Connection,
  { sequenceNumber, epoch }: Applied,
  { signal }: CallOptions = {},
): Promise<void> {
  const body = JSON.stringify({ sequenceNumber, epoch })
  const path = `${pathOf(connection)}/acknowledged`
  const request = { method: 'PUT', path, body, contentType: 'application/json' } as const
  const answer = await openAnswer(connection, request, signal, connection.now() + acknowledgeMs)
  answer.close()
}

/** The most results that one request may have. */
const resultsPerRequest = 1_000

/**
 * Reports what became of properties, in as few requests as the limit allows, one after the other. A repeat changes nothing, so each
 * request is sent until it is stored. If the call fails half-way, you can send everything again. Pointers of faults count from the first
 * result given.
 */
export async function report(
  connection: Connection,
  results: readonly ConsumerResult[],
  { signal }: CallOptions = {},
): Promise<ResultsReceipt> {
  if (connection.feed !== 'property') {
    throw new InvalidOptionError('report is about properties; this client reads the contact feed.')
  }
  let stored = 0
  const unknown = new Set<string>()
  for (let from = 0; from < results.length; from += resultsPerRequest) {
    const body = JSON.stringify(results.slice(from, from + resultsPerRequest))
    const path = `${pathOf(connection)}/results`
    const request = {
      method: 'POST',
      path,
      body,
      contentType: 'application/json',
      placeFault: (fault: ProblemFault) => placedAfter(from, fault),
    } as const
    const { value } = await requestJson(connection, request, decodeReceipt, signal)
    stored += value.stored
    for (const agentRef of value.unknown) unknown.add(agentRef)
  }
  return { stored, unknown: [...unknown] }
}

function pathOf({ feed, consumer = 'default' }: Connection): string {
  return `${consumersPaths[feed]}/${encodeURIComponent(consumer)}`
}

function decodeReceipt(value: unknown): ResultsReceipt | undefined {
  if (!isObject(value) || typeof value['stored'] !== 'number' || !Array.isArray(value['unknown']))
    return undefined
  const unknown = value['unknown'].filter((one) => typeof one === 'string')
  return unknown.length === value['unknown'].length ? { stored: value['stored'], unknown } : undefined
}
