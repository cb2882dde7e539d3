/** The main thread's end of the writer: a question, an answer by its number, and no waiting for a dead thread. */
import { Worker } from 'node:worker_threads'
import { StorageFailure } from '../storage.ts'
import type { WriterOptions, WriterReply, WriterRequest, WriterVerb, WriterVerbs } from './writer-verbs.ts'

export interface WriterLink {
  /** Rejects with a `StorageFailure`: what SQLite refused, or `storage_unavailable` when the thread died meanwhile. */
  call<V extends WriterVerb>(
    verb: V,
    ...args: Parameters<WriterVerbs[V]>
  ): Promise<ReturnType<WriterVerbs[V]>>
  /** Resolves when the thread has ended. */
  ended(): Promise<void>
  /** The thread's number, for tests that kill it. */
  readonly worker: () => Worker | undefined
}

/** A method, so that promises of every answer's type fit: request and reply are paired by number. */
interface Waiting {
  resolve(value: unknown): void
  reject(failure: StorageFailure): void
}

/**
 * Starts the thread with the first call, and again with the first call after it died: what was under way is then
 * rejected with `storage_unavailable`, and whether it was stored shows when it is repeated by its ids (D14).
 */
export function linkWriter(options: WriterOptions): WriterLink {
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let worker: Worker | undefined
  let ended: Promise<void> = Promise.resolve()

  const start = (): Worker => {
    const started = new Worker(new URL('./writer.ts', import.meta.url), { workerData: options })
    let cause: unknown
    started.on('message', (reply: WriterReply) => settle(waiting, reply))
    started.on('messageerror', (error) => (cause = error))
    started.on('error', (error) => (cause = error))
    ended = new Promise((resolve) => {
      // Only now are its connection and its locks gone, so nothing of it can still be committed.
      started.on('exit', () => {
        if (worker === started) worker = undefined
        const failure = new StorageFailure('storage_unavailable', cause ?? new Error('the writer ended'))
        for (const question of waiting.values()) question.reject(failure)
        waiting.clear()
        resolve()
      })
    })
    return started
  }

  return {
    call(verb, ...args) {
      return new Promise((resolve, reject) => {
        worker ??= start()
        lastId += 1
        waiting.set(lastId, { resolve, reject })
        const request: WriterRequest = { id: lastId, verb, args }
        worker.postMessage(request, [])
      })
    },
    ended: () => ended,
    worker: () => worker,
  }
}

function settle(waiting: Map<number, Waiting>, reply: WriterReply): void {
  const question = waiting.get(reply.id)
  waiting.delete(reply.id)
  if (reply.kind === 'answer') question?.resolve(reply.value)
  else question?.reject(new StorageFailure(reply.code, new Error(reply.cause)))
}
