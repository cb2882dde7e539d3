/** The thread that writes, so that a flush never holds up the event loop (P7). It ends once it is asked to close. */
import { parentPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { collectAtRest } from '../../../runtime/memory/collect-at-rest.ts'
import { collectWhenTold } from '../../../runtime/memory/relieve-memory.ts'
import { lowerOwnPriority } from '../../../sql/sqlite/lower-priority.ts'
import { openForWriting } from './writer.ts'

if (parentPort === null) throw new Error('writer.ts runs in a worker thread')
const owner = parentPort
lowerOwnPriority()
collectAtRest()
collectWhenTold()
const writing = openForWriting(workerData, () => owner.close())
owner.on('message', (port: MessagePort) => writing.answer(port))
