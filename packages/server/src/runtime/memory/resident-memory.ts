/** Resident memory of the process. */
import { performance } from 'node:perf_hooks'
import process from 'node:process'

let known = 0

/** Bytes. Node opens a file to learn them: where no descriptor is free, they are those of the look before. */
export function residentBytes(): number {
  try {
    known = process.memoryUsage.rss()
  } catch {
    // The next look will do.
  }
  return known
}

/** Asking the system takes 10 µs. An attack was seen to bring 400 MiB in a second. */
const validMs = 10

/** The same, as of 10 ms ago at most. */
export function recentResidentBytes(): () => number {
  let bytes = 0
  let untilMs = 0
  return () => {
    const nowMs = performance.now()
    if (nowMs >= untilMs) {
      untilMs = nowMs + validMs
      bytes = residentBytes()
    }
    return bytes
  }
}
