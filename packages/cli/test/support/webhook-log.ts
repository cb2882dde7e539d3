/** A receiver of webhooks that writes down all it gets, and what its log has to show afterwards (W1, W2, W3, W5). */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** As many events are begun beyond what is written (W3). */
const windowEvents = 64
/** Of one endpoint under way at once, as an endpoint is made. */
const concurrency = 4

/** A message. The moments are places in the log of the receiver. */
export interface Got {
  readonly path: string
  readonly id: string
  readonly home: string
  readonly number: number
  readonly isRefused: boolean
  readonly arrivedAt: number
  /** `undefined`: not yet. */
  answeredAt: number | undefined
}

interface Posted {
  readonly data: { readonly event: { readonly sequenceNumber: number; readonly payload: string } }
}

export interface LoggingReceiverOptions {
  /** Time enough for something to happen between a message and its answer. */
  readonly answerMs?: number
  /** Refuses the first message with each number that this divides. */
  readonly refusedEvery?: number
}

export class LoggingReceiver {
  readonly #got = new Map<string, Got[]>()
  readonly #refused = new Set<string>()
  readonly #options: Required<LoggingReceiverOptions>
  readonly #server: Server
  #moment = 0

  constructor({ answerMs = 0, refusedEvery = Infinity }: LoggingReceiverOptions = {}) {
    this.#options = { answerMs, refusedEvery }
    this.#server = createServer((request, response) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => {
        const { data }: Posted = JSON.parse(Buffer.concat(pieces).toString())
        const { agent_ref: home }: { readonly agent_ref: string } = JSON.parse(data.event.payload)
        const id = String(request.headers['webhook-id'])
        const one = { path: request.url ?? '', id, home, number: data.event.sequenceNumber }
        void this.#answer(one, response)
      })
    })
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    assert.ok(address !== null && typeof address === 'object')
    return `http://127.0.0.1:${address.port}`
  }

  of(path: string): readonly Got[] {
    return this.#got.get(path) ?? []
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #answer(one: Pick<Got, 'path' | 'id' | 'home' | 'number'>, response: ServerResponse): Promise<void> {
    const { answerMs, refusedEvery } = this.#options
    const name = `${one.path} ${one.number}`
    const isRefused = one.number % refusedEvery === 0 && !this.#refused.has(name)
    if (isRefused) this.#refused.add(name)
    const got: Got = { ...one, isRefused, arrivedAt: (this.#moment += 1), answeredAt: undefined }
    const ofPath = this.#got.get(one.path) ?? []
    ofPath.push(got)
    this.#got.set(one.path, ofPath)
    if (answerMs > 0) await delay(answerMs)
    got.answeredAt = this.#moment += 1
    response.writeHead(isRefused ? 500 : 204).end()
  }
}

/**
 * The log of one endpoint, of the numbers after `after` up to `last`: each was acknowledged, none of a home was sent before all earlier ones
 * of it were, each under one id, and no more came again than so many faults explain. Returns how many came again.
 */
export function checkLog(
  got: readonly Got[],
  { after = 0, last, faults }: { readonly after?: number; readonly last: number; readonly faults: number },
): number {
  const first = Map.groupBy(
    got.filter(({ number }) => number > after),
    ({ number }) => number,
  )
  const missing = Array.from({ length: last - after }, (_, n) => after + 1 + n).filter(
    (number) => first.get(number)?.some(({ isRefused }) => !isRefused) !== true,
  )
  assert.deepEqual(missing, [], 'not acknowledged (W1)')
  checkOrder([...first.values()])
  for (const ofNumber of Map.groupBy(got, ({ number }) => number).values())
    assert.equal(new Set(ofNumber.map(({ id }) => id)).size, 1, 'one number has one id (W3)')
  const acknowledged = got.filter(({ isRefused }) => !isRefused).length
  const repeats = acknowledged - (last - after)
  assert.ok(repeats <= faults * windowEvents, `${repeats} came again after ${faults} faults (W3)`)
  checkOneSender(got)
  return repeats
}

/** `numbers`: what was got of each. */
function checkOrder(numbers: readonly (readonly Got[])[]): void {
  const acknowledgedAt = (ofNumber: readonly Got[]): number =>
    Math.min(...ofNumber.map((one) => (one.isRefused ? Infinity : (one.answeredAt ?? Infinity))))
  const ofHome = Map.groupBy(numbers, ([one]) => one?.home)
  for (const ofOne of ofHome.values()) {
    let before = 0
    for (const ofNumber of ofOne.toSorted(([a], [b]) => (a?.number ?? 0) - (b?.number ?? 0))) {
      const [one] = ofNumber
      assert.ok((one?.arrivedAt ?? 0) > before, `${one?.home}: ${one?.number} came too early (W2)`)
      before = acknowledgedAt(ofNumber)
    }
  }
}

/** Two senders would have twice as many under way. */
function checkOneSender(got: readonly Got[]): void {
  const moments = got.flatMap(({ arrivedAt, answeredAt = Infinity }) => [
    { at: arrivedAt, by: 1 },
    { at: answeredAt, by: -1 },
  ])
  let underWay = 0
  for (const { by } of moments.toSorted((one, other) => one.at - other.at)) {
    underWay += by
    assert.ok(underWay <= concurrency, `${underWay} were under way at once (W5)`)
  }
}
