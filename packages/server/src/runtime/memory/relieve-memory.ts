/**
 * Keeps resident memory near what is promised while a service is attacked. Beside what is counted as in flight, V8 lets up to three times
 * the live objects pile up as garbage, and the C library keeps what was freed: during a siege with PostgreSQL these were 210 and 190 MiB of
 * 900. Neither is given back before a thread is calm (collect-at-rest.ts). Here both happen under load as well, but only once resident
 * memory has reached what pages, bodies and answers may have in all: no ordinary load comes near it, so none pays for it.
 */
import { BroadcastChannel } from 'node:worker_threads'
import { residentBytes } from './resident-memory.ts'
import { trimMemory } from './trim-memory.ts'

/** Every thread of the process hears it, the one that writes for SQLite included. */
const channelName = 'property-events: collect garbage'

interface ReliefOptions {
  readonly residentBytes?: () => number
  readonly trim?: () => void
  /** Has every thread collect its garbage. */
  readonly collect?: () => void
  readonly lookMs?: number
}

/** One for the process, from `limitBytes` of resident memory on. Does nothing without `--expose-gc`. Returns a function that stops it. */
export function relieveMemory(limitBytes: () => number, options: ReliefOptions = {}): () => void {
  const { residentBytes: resident = residentBytes, trim = trimMemory, lookMs = 500 } = options
  if (options.collect === undefined && globalThis.gc === undefined) return () => undefined
  const port = new BroadcastChannel(channelName)
  port.unref()
  const { collect = () => port.postMessage('now') } = options
  let looksToWait = 0
  let waitLooks = fewestLooks
  let bytesBefore: number | undefined
  const look = (): void => {
    const bytes = resident()
    const limit = limitBytes()
    if (bytesBefore !== undefined) {
      // What is still there is in use: collecting again soon would be in vain.
      waitLooks = bytes < usefulShare * bytesBefore ? fewestLooks : Math.min(mostLooks, 2 * waitLooks)
      bytesBefore = undefined
    }
    if (bytes < limit) {
      looksToWait = 0
      return
    }
    trim()
    looksToWait -= 1
    if (looksToWait >= 0 || resident() < limit) return
    bytesBefore = bytes
    looksToWait = waitLooks
    collect()
  }
  const timer = setInterval(look, lookMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    port.close()
  }
}

/** Looks between two collections, while memory stays above the limit: from 1 s to half a minute. */
const fewestLooks = 2
const mostLooks = 60

/** A collection was of use if no more than this is left at the next look. */
const usefulShare = 0.95

/** Has the calling thread collect its garbage when `relieveMemory` says so. Returns a function that stops it. */
export function collectWhenTold(): () => void {
  const { gc } = globalThis
  if (gc === undefined) return () => undefined
  const port = new BroadcastChannel(channelName)
  port.addEventListener('message', () => gc({ type: 'major', execution: 'sync' }))
  // It keeps no thread alive.
  port.unref()
  return () => port.close()
}
