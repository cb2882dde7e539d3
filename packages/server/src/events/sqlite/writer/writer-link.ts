/** The asking end of the connection to the writer: a question, an answer by its number, and no waiting for a dead thread. */
import { receiveMessageOnPort } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import type { Write } from '../../../sql/database.ts'
import type { Written } from '../../../sql/sqlite.ts'
import { StorageFailure } from '../../../sql/storage-errors.ts'
import type { WriterClient, WriterHost } from './writer-host.ts'
import type { WriterReply, WriterRequest, WriterVerb, WriterVerbs } from './writer-verbs.ts'

export interface WriterLink {
  /** Rejects with a `StorageFailure`: what SQLite refused, or `storage_unavailable` if the writer died meanwhile. */
  call<V extends WriterVerb>(
    verb: V,
    ...args: Parameters<WriterVerbs[V]>
  ): Promise<Awaited<ReturnType<WriterVerbs[V]>>>
  /** A write of a feature, which the writer finds by its name. */
  run<Args extends readonly unknown[], Answer>(
    write: Write<Args, Answer>,
    args: Args,
  ): Promise<Written<Answer>>
}

/** A method, so that promises of every answer's type fit: request and reply are paired by number. */
interface Waiting {
  readonly request: WriterRequest
  readonly askedMs: number
  resolve(value: unknown): void
  reject(failure: StorageFailure): void
}

/**
 * Requests access to the writer with the first call, and again with the first call after it died. `onAnswered`: called for each answer
 * with how long the question and the answer waited for a thread.
 */
export function linkWriter(
  host: WriterHost,
  onAnswered: (waitedMs: number) => void = () => undefined,
): WriterLink {
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let port: MessagePort | undefined
  let asked = false

  const client: WriterClient = {
    connected(given) {
      port = given
      given.on('message', (reply: WriterReply) => settle(waiting, reply, onAnswered))
      for (const { request } of waiting.values()) given.postMessage(request, [])
    },
    lost(cause) {
      // What it answered before it died is still an answer.
      for (let last = port && receiveMessageOnPort(port); last !== undefined;) {
        const reply: WriterReply = last.message
        settle(waiting, reply, onAnswered)
        last = port && receiveMessageOnPort(port)
      }
      port?.close()
      port = undefined
      asked = false
      const failure = new StorageFailure('storage_unavailable', cause)
      for (const question of waiting.values()) question.reject(failure)
      waiting.clear()
    },
  }

  /** What the writer answers is of the type that its verb has: question and answer are paired by number. */
  function ask<Answer>(verb: WriterVerb, args: readonly unknown[]): Promise<Answer> {
    return new Promise((resolve, reject) => {
      lastId += 1
      const request: WriterRequest = [lastId, verb, args]
      waiting.set(lastId, { request, askedMs: performance.now(), resolve, reject })
      if (port !== undefined) port.postMessage(request, [])
      else if (!asked) {
        asked = true
        host.connect(client)
      }
    })
  }

  return {
    call: (verb, ...args) => ask(verb, args),
    run: ({ name }, args) => ask('write', [name, args]),
  }
}

function settle(
  waiting: Map<number, Waiting>,
  reply: WriterReply,
  onAnswered: (waitedMs: number) => void,
): void {
  const [id, tookMs, content] = reply
  const question = waiting.get(id)
  waiting.delete(id)
  if (tookMs === undefined) {
    const { code, scope, cause } = content
    question?.reject(new StorageFailure(code, new Error(cause), scope))
    return
  }
  if (question !== undefined) onAnswered(Math.max(0, performance.now() - question.askedMs - tookMs))
  question?.resolve(content)
}
