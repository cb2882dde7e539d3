/** One serving thread, seen from the thread that started it. */
import { Worker } from 'node:worker_threads'
import type { Transferable } from 'node:worker_threads'
import type { Finding } from '../http/recent-findings.ts'
import type {
  NodeAnswers,
  ServingThreadData,
  ThreadAnswers,
  ThreadQuestion,
  ThreadReply,
  ThreadRequest,
} from './messages.ts'

export interface ServingThread {
  /** Rejects with an error that has the code of the thread's error, or when the thread has ended. */
  ask<Q extends ThreadQuestion>(question: Q): Promise<ThreadAnswers[Q['verb']]>
  /** Resolves when the thread has ended. The value is the error that ended it, if any. */
  readonly ended: Promise<Error | undefined>
  /** Ends the thread at once, whatever it is doing. */
  terminate(): Promise<void>
}

/** A method, so that promises of every answer's type fit: request and reply are paired by number. */
interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** Resolves when the thread is ready to listen. */
export async function startServingThread(
  data: ServingThreadData,
  transfer: readonly Transferable[],
  { findings, addAllReadings }: NodeAnswers,
): Promise<ServingThread> {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    workerData: data,
    transferList: [...transfer],
  })
  const waiting = new Map<number, Waiting>()
  const prepared = Promise.withResolvers<void>()
  let lastId = 0
  let hasEnded = false
  let cause: Error | undefined

  worker.on('message', (reply: ThreadReply) => {
    if (reply.kind === 'prepared') {
      prepared.resolve()
      return
    }
    if (reply.kind === 'question') {
      if (reply.about === 'readings') {
        const added = (): void => void ask({ verb: 'added', question: reply.id }).catch(() => undefined)
        addAllReadings().then(added, added)
        return
      }
      const tell = (found: readonly Finding[] | undefined): void =>
        void ask({ verb: 'tell', question: reply.id, findings: found }).catch(() => undefined)
      findings().then(tell, () => tell(undefined))
      return
    }
    const question = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (reply.kind === 'answer') question?.resolve(reply.value)
    else question?.reject(systemError(reply))
  })
  worker.on('error', (error) => {
    cause = error instanceof Error ? error : new Error(String(error))
  })
  const ended = new Promise<Error | undefined>((resolve) => {
    worker.on('exit', () => {
      hasEnded = true
      const failure = cause ?? new Error('a serving thread has ended')
      prepared.reject(failure)
      for (const question of waiting.values()) question.reject(failure)
      waiting.clear()
      resolve(cause)
    })
  })
  const ask: ServingThread['ask'] = (question) =>
    new Promise((resolve, reject) => {
      if (hasEnded) {
        reject(cause ?? new Error('a serving thread has ended'))
        return
      }
      lastId += 1
      waiting.set(lastId, { resolve, reject })
      const request: ThreadRequest = { ...question, id: lastId }
      worker.postMessage(request, [])
    })
  await prepared.promise
  return {
    ended,
    ask,
    async terminate() {
      await worker.terminate()
    },
  }
}

function systemError({ message, code, port }: ThreadReply & { kind: 'failure' }): Error {
  return Object.assign(new Error(message), {
    ...(code === undefined ? {} : { code }),
    ...(port === undefined ? {} : { port }),
  })
}
