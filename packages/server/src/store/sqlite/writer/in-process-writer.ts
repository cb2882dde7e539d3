/** The writer on the thread that opens the store. */
import { MessageChannel } from 'node:worker_threads'
import type { CommitLine } from '../../../events/sqlite/commit-line.ts'
import type { WriterHost } from './writer-host.ts'
import type { WriterOptions } from './writer-verbs.ts'
import type { Writing } from './writer.ts'

/**
 * For a program that waits for its own writes and serves nobody. No thread has to start: of the 0.40 s of processor time that `keys
 * create` took, 0.09 went there, measured manually. A write that waits for another process holds up the event loop, for 10 s at most.
 */
export function hostWriterHere(options: Omit<WriterOptions, 'line'>, line: CommitLine): WriterHost {
  const ended = Promise.withResolvers<void>()
  let writing: Promise<Writing> | undefined

  const start = async (): Promise<Writing> => {
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
