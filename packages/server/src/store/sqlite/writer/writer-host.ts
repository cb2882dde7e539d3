/** Where the writer runs: on a thread of its own, started on demand and restarted if it died, or on the thread that opens the store. */
import { MessageChannel, Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import type { CommitLine } from '../../../events/sqlite/commit-line.ts'
import type { WriterOptions } from './writer-verbs.ts'
import type { OpenWriter } from './writer.ts'

/** The end of the connection that asks the writer. */
export interface WriterClient {
  /** Called with access to the writer. */
  connected(port: MessagePort): void
  /** The writer has ended: nothing that was asked of it can still be committed. */
  lost(cause: Error): void
}

export interface WriterHost {
  /** Answered by the client's `connected`. There is one client. */
  connect(client: WriterClient): void
  /** Resolves when the thread has ended. */
  ended(): Promise<void>
  /** The thread, if it has one of its own, for tests that kill it. */
  readonly worker: () => Worker | undefined
}

/**
 * Starts the thread on first use, and again after it died. Work that was under way is then rejected; repeating it by its ids shows
 * whether it was stored (D14).
 */
export function hostWriter(options: Omit<WriterOptions, 'line'>, line: CommitLine): WriterHost {
  let worker: Worker | undefined
  let ended: Promise<void> = Promise.resolve()

  const start = (client: WriterClient): Worker => {
    const workerData: WriterOptions = { ...options, line: line.memory }
    const started = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData })
    let cause: unknown
    started.on('messageerror', (error) => (cause = error))
    started.on('error', (error) => (cause = error))
    ended = new Promise((resolve) => {
      // Only now are its connection and its locks gone, so nothing of it can still be committed.
      started.on('exit', () => {
        if (worker === started) worker = undefined
        line.writerEnded()
        const reason = cause instanceof Error ? cause : new Error('the writer ended')
        client.lost(reason)
        resolve()
      })
    })
    return started
  }

  return {
    connect(client) {
      worker ??= start(client)
      const { port1, port2 } = new MessageChannel()
      worker.postMessage(port1, [port1])
      client.connected(port2)
    },
    ended: () => ended,
    worker: () => worker,
  }
}

/**
 * For a program that waits for its own writes and serves nobody. No thread has to start: of the 0.40 s of processor time that `keys
 * create` took, 0.09 went there, measured manually. A write that waits for another process holds up the event loop, for 10 s at most.
 */
export function hostWriterInProcess(options: Omit<WriterOptions, 'line'>, line: CommitLine): WriterHost {
  const ended = Promise.withResolvers<void>()
  let writing: Promise<OpenWriter> | undefined

  const start = async (): Promise<OpenWriter> => {
    const { openForWriting } = await import('./writer.ts')
    return openForWriting({ ...options, line: line.memory }, ended.resolve)
  }

  return {
    connect(client) {
      const { port1, port2 } = new MessageChannel()
      client.connected(port2)
      const failed = (error: unknown): void => {
        writing = undefined
        port1.close()
        client.lost(error instanceof Error ? error : new Error(String(error)))
      }
      writing ??= start()
      writing.then((opened) => opened.answer(port1), failed)
    },
    ended: () => ended.promise,
    worker: () => undefined,
  }
}
