/** A serving thread: all of the HTTP side and all reading, over a store that another thread holds open. */
import { parentPort, workerData } from 'node:worker_threads'
import { collectAtRest } from '../collect-at-rest.ts'
import { answers } from '../http/service.ts'
import { prepareService } from '../http/prepare-service.ts'
import { collectWhenTold } from '../relieve-memory.ts'
import { createLogger } from '../observability/log.ts'
import { joinStorage } from '../storage/open-storage.ts'
import { askingNode } from './asking-node.ts'
import type { ServingThreadData, ThreadAnswers, ThreadReply, ThreadRequest } from './messages.ts'

if (parentPort === null) throw new Error('thread.ts runs in a worker thread')
await serve(parentPort, workerData)

async function serve(port: NonNullable<typeof parentPort>, data: ServingThreadData): Promise<void> {
  const { store, logLevel, logForm, ...parts } = data
  const storage = await joinStorage(store)
  // Every thread writes its own lines, each with one call: they share the process's descriptor.
  const log = createLogger({ level: logLevel, form: logForm })
  const send = (reply: ThreadReply): void => port.postMessage(reply)
  const node = askingNode(send)
  const service = await prepareService({ ...parts, ...node.answers, storage, log })
  const stopCollecting = [collectAtRest(), collectWhenTold()]

  async function close(): Promise<void> {
    for (const stop of stopCollecting) stop()
    await service.close()
    await storage.close()
  }

  function answer(request: ThreadRequest): Promise<ThreadAnswers[ThreadRequest['verb']]> {
    switch (request.verb) {
      case 'listen':
        return service.listen({ host: request.host, port: request.port, sharePort: true })
      case 'measure':
        return service.metrics.take()
      case 'awake':
        return Promise.resolve(true)
      case 'answers':
        return service.stopping() ? Promise.resolve(false) : answers(storage)
      case 'drain':
        return Promise.resolve(service.drain())
      case 'forgetFeed':
        return service.forgetFeed(request.key)
      case 'addReadings':
        return service.addReadings()
      case 'added':
        return Promise.resolve(node.added(request.question))
      case 'tell':
        return Promise.resolve(node.told(request.question, request.findings))
      case 'close':
    }
    return close()
  }

  async function reply(request: ThreadRequest): Promise<void> {
    const { id, verb } = request
    try {
      send({ kind: 'answer', id, value: await answer(request) })
    } catch (error) {
      send({ kind: 'failure', id, ...factsOf(error) })
    }
    // The open port keeps the thread alive.
    if (verb === 'close') port.close()
  }

  port.on('message', (request: ThreadRequest) => void reply(request))
  send({ kind: 'prepared' })
}

function factsOf(error: unknown) {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  const port = error instanceof Error && 'port' in error ? Number(error.port) : undefined
  return { message, code, port }
}
