/** The asking end of the connection to the writer: a question, an answer by its number, and no waiting for a dead thread. */
import { receiveMessageOnPort } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import type { OnWriter, Writer } from '../../../sql/sqlite.ts'
import { StorageFailure } from '../../../sql/storage-errors.ts'
import type { WriterClient, WriterHost } from './writer-host.ts'
import type { WriterReply, WriterRequest, WriterVerb, WriterVerbs } from './writer-verbs.ts'

/** The writer's verbs, as the other threads call them. */
export type WriterLink = Writer & OnWriter<Omit<WriterVerbs, 'write'>>

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
    run: ({ name }, args) => ask('write', [name, args]),
    append: (...args) => ask('append', args),
    preview: (...args) => ask('preview', args),
    reserveTime: (...args) => ask('reserveTime', args),
    settled: (...args) => ask('settled', args),
    beginBranchSets: (...args) => ask('beginBranchSets', args),
    stepBranchSet: (...args) => ask('stepBranchSet', args),
    beginErasure: (...args) => ask('beginErasure', args),
    beginUnchangedErasure: (...args) => ask('beginUnchangedErasure', args),
    reduceErased: (...args) => ask('reduceErased', args),
    beginRestriction: (...args) => ask('beginRestriction', args),
    liftRestriction: (...args) => ask('liftRestriction', args),
    stepRestriction: (...args) => ask('stepRestriction', args),
    thinEvents: (...args) => ask('thinEvents', args),
    startEpoch: (...args) => ask('startEpoch', args),
    acceptHistory: (...args) => ask('acceptHistory', args),
    importRecords: (...args) => ask('importRecords', args),
    forgetSkippedIds: (...args) => ask('forgetSkippedIds', args),
    durability: (...args) => ask('durability', args),
    close: (...args) => ask('close', args),
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
