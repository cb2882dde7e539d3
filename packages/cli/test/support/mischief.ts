/**
 * Loaded in front of the program by tests: once the file MISCHIEF_FILE is there, the first serving thread to take it dies
 * (the file says `die`) or hangs (`hang`), as a fault of its own would make it.
 */
import { readFileSync, renameSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'

const { MISCHIEF_FILE: file = '' } = process.env
const given: unknown = workerData

if (!isMainThread && typeof given === 'object' && given !== null && 'peppers' in given) {
  setInterval(() => {
    try {
      renameSync(file, `${file} taken`)
    } catch {
      return
    }
    if (readFileSync(`${file} taken`, 'utf8') === 'die') throw new Error('a fault in a serving thread')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }, 10).unref()
}
