import { workerData } from 'node:worker_threads'
import { copyStore } from './backup.ts'

copyStore(workerData)
