/**
 * One file of segments for several threads. Only the thread that holds it writes to it, and tells the others where its records are. The
 * others read with its descriptor, which belongs to the process.
 */
import { MessageChannel } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import type { FeedKey, Head } from '../storage/storage.ts'
import { createFeedSeries, forgetOthers } from './feed-series.ts'
import { createForgetRounds } from './forget-rounds.ts'
import { storedSegment } from './stored-segment.ts'
import type { OpenSegmentFile, SegmentFile } from './segment-file.ts'
import { createSegmentIndex } from './segment-index.ts'
import { seriesPrefix } from './segment-id.ts'
import type { SegmentId } from './segment-id.ts'
import type { RecordFacts, SegmentSeries } from './segment-index.ts'
import type { Segment } from './segment.ts'

/** What a thread needs to use the file. It has to be transferred to the thread, with its port. */
export interface SegmentFilePass {
  readonly port: MessagePort
  readonly descriptor: number
  readonly generation: number
  readonly series: readonly SegmentSeries[]
  /** How many threads use the file. */
  readonly threads: number
}

export interface SharedSegmentFile {
  /** A pass for one more thread. */
  pass(): SegmentFilePass
  /**
   * When this resolves, no thread uses what it has read of the feed before, in memory or in the file, and those bytes of the file are
   * zeros on the disk. Rejects if they cannot be written.
   */
  forget(key: FeedKey): Promise<void>
  /** Compares each feed's segments with its head, and forgets those of an earlier state, as `forget` does. */
  compare(headOf: (key: FeedKey) => Promise<Head | undefined>): Promise<void>
  /** Call it after the threads have closed theirs. */
  close(): void
}

type FromThread =
  | { readonly kind: 'put'; readonly generation: number; readonly id: SegmentId; readonly segment: Segment }
  | { readonly kind: 'clear'; readonly generation: number }
  | { readonly kind: 'forgotten'; readonly generation: number }
  | { readonly kind: 'forgetSeries'; readonly generation: number; readonly prefix: string }
  | { readonly kind: 'seriesForgotten'; readonly generation: number; readonly round: number }

type ToThread =
  | { readonly kind: 'added'; readonly id: SegmentId; readonly facts: RecordFacts }
  /** The last segment that was put did not fit. */
  | { readonly kind: 'full' }
  | { readonly kind: 'forget'; readonly generation: number }
  | { readonly kind: 'forgetSeries'; readonly round: number; readonly prefix: string }

/** `threads`: how many passes will be handed out. */
export function shareSegmentFile(file: OpenSegmentFile, threads: number): SharedSegmentFile {
  const ports = new Set<MessagePort>()
  /** Threads that may still read what will be cleared. */
  const remembering = new Set<MessagePort>()
  /** Rises whenever the file is emptied, so that a thread's request about an earlier generation is ignored. */
  let generation = 0
  let closed = false

  const tellAll = (message: ToThread): void => {
    for (const port of ports) port.postMessage(message)
  }
  const forgottenBy = (port: MessagePort): void => {
    const waited = remembering.delete(port)
    if (waited && remembering.size === 0 && !closed) file.clear()
  }
  /** Gives the space to other segments only when no thread reads the old ones any longer. */
  const clearEverywhere = (): void => {
    generation += 1
    for (const each of ports) remembering.add(each)
    tellAll({ kind: 'forget', generation })
    if (remembering.size === 0) file.clear()
  }
  const rounds = createForgetRounds()
  const feedSeries = createFeedSeries(() => undefined)
  file.index.watch(feedSeries)

  const forgetSeries = async (prefix: string): Promise<void> => {
    await rounds.begin(prefix, ports, (round) => tellAll({ kind: 'forgetSeries', round, prefix }))
    if (!closed) await file.forget(prefix)
    if (!closed && file.isMostlyWiped() && remembering.size === 0) clearEverywhere()
  }
  const forgetFeed = (key: FeedKey) => forgetSeries(seriesPrefix(key))

  const hear = (port: MessagePort, message: FromThread): void => {
    if (message.kind === 'seriesForgotten') rounds.forgottenBy(port, message.round)
    if (closed || message.generation !== generation) return
    if (message.kind === 'forgetSeries') void forgetSeries(message.prefix).catch(() => undefined)
    else if (message.kind === 'forgotten') forgottenBy(port)
    else if (message.kind === 'clear') clearEverywhere()
    else if (message.kind === 'put' && remembering.size === 0 && !rounds.isForgetting(message.id)) {
      const added = add(file, message)
      if (added !== undefined) tellAll(added)
    }
  }

  return {
    pass() {
      const { port1, port2 } = new MessageChannel()
      ports.add(port1)
      port1.on('message', (message: FromThread) => hear(port1, message))
      port1.on('close', () => {
        ports.delete(port1)
        forgottenBy(port1)
        rounds.forgottenBy(port1)
      })
      const { descriptor, index } = file
      return { port: port2, descriptor, generation, series: index.series(), threads }
    },
    forget: forgetFeed,
    compare: (headOf) => forgetOthers(feedSeries, headOf, forgetFeed),
    close() {
      closed = true
      for (const port of ports) port.close()
      file.close()
    },
  }
}

/** What threads need to know about a new segment. */
function add(file: OpenSegmentFile, { id, segment }: FromThread & { kind: 'put' }): ToThread | undefined {
  file.put(id, segment)
  const facts = file.index.get(id)
  if (facts !== undefined) return { kind: 'added', id, facts }
  return file.isFull() ? { kind: 'full' } : undefined
}

/**
 * The file as a thread uses it. A segment that it puts can be read once it has been written. `onEmptied`: a thread is about to empty the
 * file, and this one must not use what it remembers of it. `onForgotten`: the same for some series.
 */
export function joinSegmentFile(
  pass: SegmentFilePass,
  onEmptied: () => void,
  onForgotten: (prefix: string) => void,
): SegmentFile {
  const { port, descriptor } = pass
  const index = createSegmentIndex(pass.series)
  let { generation } = pass
  let full = false
  const send = (message: FromThread): void => port.postMessage(message)

  port.on('message', (message: ToThread) => {
    full = message.kind === 'full'
    if (message.kind === 'added') index.set(message.id, message.facts)
    else if (message.kind === 'forget') {
      index.clear()
      onEmptied()
      generation = message.generation
      send({ kind: 'forgotten', generation })
    } else if (message.kind === 'forgetSeries') {
      index.forget(message.prefix)
      onForgotten(message.prefix)
      send({ kind: 'seriesForgotten', generation, round: message.round })
    }
  })
  return {
    get: (id) => storedSegment(descriptor, index, id),
    index,
    put(id, segment) {
      if (index.get(id) === undefined) send({ kind: 'put', generation, id, segment })
    },
    isFull: () => full,
    async forget(prefix) {
      index.forget(prefix)
      send({ kind: 'forgetSeries', generation, prefix })
    },
    isMostlyWiped: () => false,
    clear() {
      index.clear()
      full = false
      send({ kind: 'clear', generation })
    },
    close: () => port.close(),
  }
}
