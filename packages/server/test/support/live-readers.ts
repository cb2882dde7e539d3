/** Readers that keep a log of what a stream or a long-poll tells them, and are disturbed while they do. */
import { setTimeout as delay } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { call } from './http-client.ts'
import type { StreamSession } from './live-sessions.ts'
import type { Random } from './random-requests.ts'

export interface LogReader {
  readonly name: string
  /** What is compared: as the run reads it. */
  readonly view: string
  /** Numbers as they were told; begun anew where the reader was told to. */
  readonly log: readonly number[]
  /** How often it came back. */
  readonly connections: number
  /** What it was told and must not have been. */
  readonly faults: readonly string[]
  stop(): Promise<void>
}

export interface ReaderOptions {
  readonly name: string
  /** Where it is answered: of a proxy, or of one of several nodes. Asked before each connection. */
  readonly port: () => number
  readonly key: string
  readonly path: string
  /** Such as `&apiEventType=salesproperty`. */
  readonly view?: string
  readonly random: Random
}

export interface Disturbance {
  /** The connection is cut after so many characters; 0: never. */
  readonly cutBelow?: number
  /** Rests so long after each piece at most. */
  readonly restMs?: number
  /** Nothing came for so long: it goes elsewhere. A stream that is there says so every 15 s. */
  readonly silentMs?: number
  /** One time in so many, comes back with an id that it had earlier, and forgets what it was told since. */
  readonly oldIdEvery?: number
}

/**
 * Of the last so many. A connection that is cut below 100,000 characters brings five ids, and a reader that goes back every second time
 * loses half of this on average, each time: with 20 it got no further on average, and wandered about in a long log for minutes.
 */
const mostOldIds = 8

/** Reads a stream until it is stopped. */
export function streamReader(
  { name, port, key, path, view = '', random }: ReaderOptions,
  session: StreamSession,
  { cutBelow = 0, restMs = 0, oldIdEvery = 0, silentMs = 0 }: Disturbance = {},
): LogReader {
  const stopping = new AbortController()
  let log: number[] = []
  let lastId: string | undefined
  let ids: { readonly id: string; readonly length: number }[] = []
  const faults: string[] = []
  let connections = 0

  const restart = (): void => {
    log = []
    ids = []
    lastId = undefined
  }
  const take = (event: string | undefined, id: string | undefined, data: string): void => {
    if (event === 'reset') {
      restart()
      return
    }
    if (event === undefined) {
      const { sequenceNumber }: { sequenceNumber: number } = JSON.parse(data)
      if (sequenceNumber <= (log.at(-1) ?? 0)) faults.push(`${sequenceNumber} after ${log.at(-1)}`)
      if (!id?.endsWith(`.${sequenceNumber}`)) faults.push(`${sequenceNumber} under the id ${id}`)
      log.push(sequenceNumber)
    }
    lastId = id ?? lastId
    if (lastId !== undefined) ids.push({ id: lastId, length: log.length })
  }

  async function connectOnce(): Promise<void> {
    connections += 1
    const old =
      oldIdEvery > 0 && random(oldIdEvery) === 0 ? ids.slice(-mostOldIds)[random(mostOldIds)] : undefined
    if (old !== undefined) {
      log.length = old.length
      lastId = old.id
      ids = ids.slice(0, ids.indexOf(old) + 1)
    }
    const cut = new AbortController()
    const silence = silentMs === 0 ? undefined : setTimeout(() => cut.abort(), silentMs)
    let left = cutBelow === 0 ? Infinity : random(cutBelow)
    const parser = createParser({ onEvent: ({ event, id, data }) => take(event, id, data) })
    const status = await session({
      port: port(),
      path: `${path}/stream?after=0${view}`,
      headers: { 'x-api-key': key, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
      signal: AbortSignal.any([cut.signal, stopping.signal]),
      async onText(text) {
        silence?.refresh()
        if (restMs > 0) await delay(random(restMs))
        // What comes after the cut, on its way already, is not taken.
        parser.feed(text.slice(0, Math.max(0, left)))
        left -= text.length
        if (left <= 0) cut.abort()
      },
    })
    clearTimeout(silence)
    if (status === 409) restart()
  }

  const reading = untilStopped(stopping.signal, connectOnce)
  return {
    name,
    view,
    get log() {
      return log
    },
    get connections() {
      return connections
    },
    faults,
    async stop() {
      stopping.abort()
      await reading
    },
  }
}

/** Reads by long-polls until it is stopped. */
export function pollReader({ name, port, key, path, view = '' }: ReaderOptions): LogReader {
  const stopping = new AbortController()
  const faults: string[] = []
  let log: number[] = []
  let [after, epoch] = [0, '']
  let connections = 0

  async function askOnce(): Promise<void> {
    connections += 1
    const query = `after=${after}${epoch === '' ? '' : `&epoch=${epoch}`}&wait=2&limit=7${view}`
    const answer = await call({ port: port() }, `${path}?${query}`, { key, signal: stopping.signal })
    if (answer.status === 409) {
      log = []
      ;[after, epoch] = [0, '']
    }
    if (answer.status !== 200) return
    const run: {
      readonly items: readonly { readonly sequenceNumber: number }[]
      readonly next: number
      readonly epoch: string
    } = JSON.parse(answer.text)
    for (const { sequenceNumber } of run.items) {
      if (sequenceNumber <= (log.at(-1) ?? 0)) faults.push(`${sequenceNumber} after ${log.at(-1)}`)
      log.push(sequenceNumber)
    }
    after = run.next
    epoch = run.epoch
  }

  const reading = untilStopped(stopping.signal, askOnce)
  return {
    name,
    view,
    get log() {
      return log
    },
    get connections() {
      return connections
    },
    faults,
    async stop() {
      stopping.abort()
      await reading
    },
  }
}

/** Again and again, with a short rest, whatever happened. */
async function untilStopped(signal: AbortSignal, once: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await once().catch(() => undefined)
    if (!signal.aborted) await delay(20)
  }
}
