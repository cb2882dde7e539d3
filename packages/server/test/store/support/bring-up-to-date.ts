/** A thread that opens the store in `workerData` as a later version of the program does when it starts. */
import { workerData } from 'node:worker_threads'
import { connectForWriting } from '../../../src/sql/sqlite/connection.ts'
import { migrate } from '../../../src/store/sqlite/migrate.ts'
import { laterSteps } from './later-steps.ts'

const db = connectForWriting({ file: String(workerData) })
await migrate(db, undefined, laterSteps)
db.close()
