import { parentPort, workerData } from 'node:worker_threads'
import { rewrite } from './rewrite.ts'

parentPort?.postMessage(rewrite(workerData), [])
