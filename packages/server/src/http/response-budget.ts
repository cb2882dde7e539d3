/** Counts answers in the budget of bytes in flight: whether there is room for one, and what its reader has not taken yet. */
import { wholeBytes } from './answer-body.ts'
import type { FlightUse } from './bytes-in-flight.ts'
import type { HttpContext } from './context.ts'
import type { Outcome } from './exchange.ts'
import type { Exchange } from './routed.ts'
import type { Refusal } from './problem/problem.ts'

/** A page holds the piece being sent and the one being made; a snapshot holds the events of one read. */
const bytesOfPage = 2 ** 20
const bytesOfSnapshot = 2 * 2 ** 20
/** A stream of events holds what it is sending. */
const bytesOfStream = 65_536

const bytesOfUse = {
  snapshot: bytesOfSnapshot,
  stream: bytesOfStream,
  largePage: bytesOfPage,
  page: bytesOfPage,
  publication: bytesOfPage,
} as const satisfies Record<FlightUse, number>

/** Refuses an answer that there is no room for. An answer in the page memory, and a short one, is never refused. */
export function refusalOfAnswer(
  { inFlight }: Pick<HttpContext, 'inFlight'>,
  exchange: Exchange,
  outcome: Outcome,
): Refusal | undefined {
  const { keyId } = exchange
  if (outcome.kind === 'pieces') {
    const { ownBytes } = outcome.body
    if (ownBytes === 0) return undefined
    return inFlight.refuses(keyId, ownBytes > wholeBytes ? 'largePage' : 'page', ownBytes)
  }
  if (outcome.kind !== 'stream' && outcome.kind !== 'live') return undefined
  exchange.flight = inFlight.begin(keyId, outcome.use)
  return exchange.flight.take(bytesOfUse[outcome.use])
}

/** Counts what the kernel has not yet taken of an answer that is with the connection. */
export function holdUntaken(
  { inFlight }: Pick<HttpContext, 'inFlight'>,
  exchange: Exchange,
  waitingBytes: number,
): void {
  const { answer, keyId } = exchange
  if (answer.kind === 'stream' || answer.kind === 'live') return
  // Bytes in the page memory are counted there.
  const bytes = answer.kind === 'pieces' ? answer.body.ownBytes : waitingBytes
  exchange.flight = inFlight.begin(keyId, 'page')
  exchange.flight.hold(bytes)
}
