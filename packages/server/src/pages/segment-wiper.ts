/**
 * Overwrites records of a file with zeros (D17): they hold payloads that were erased since. Their heads come last, so that what a
 * crash has left half done is found by the next start, and is wiped then.
 */
import { fdatasync, writeSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { SegmentPlace } from './segment-index.ts'
import { recordSpan, wipedHead } from './segment-record.ts'

export interface SegmentWiper {
  /** These are to be wiped. No reader uses them any more. */
  add(places: readonly SegmentPlace[]): void
  /** Wipes all there is. Resolves when that is on the disk: true if anything was wiped. Rejects when it cannot be written. */
  wipe(): Promise<boolean>
  /** Whether something is still to be wiped. */
  isBusy(): boolean
  /** Since the file was last emptied. */
  wipedBytes(): number
  /** The file is emptied: nothing is to be wiped any more. */
  clear(): void
  /** Wipes the rest at once, before the file is closed. */
  close(): void
}

/** A millisecond or so, after which other work has a turn. */
const bytesAtOnce = 2 ** 20
const zeros = Buffer.alloc(bytesAtOnce)
const flush = promisify(fdatasync)

export function createSegmentWiper(file: number): SegmentWiper {
  const places: SegmentPlace[] = []
  let running: Promise<boolean> = Promise.resolve(false)
  let bytes = 0
  let closed = false

  /** In pieces, so that a file that is emptied meanwhile is not written to. */
  function* pieces(): Generator<undefined> {
    for (let place = places[0]; place !== undefined; place = places[0]) {
      const [from, to] = recordSpan(place.id, place.at, place.byteLength)
      const head = wipedHead(from, to)
      for (let at = from + head.byteLength; at < to; at += bytesAtOnce) {
        writeWhole(zeros.subarray(0, Math.min(bytesAtOnce, to - at)), at)
        yield
        if (places[0] !== place) break
      }
      if (places[0] !== place) continue
      writeWhole(head, from)
      places.shift()
      bytes += to - from
      yield
    }
  }

  function writeWhole(given: Buffer, at: number): void {
    if (writeSync(file, given, 0, given.byteLength, at) !== given.byteLength) throw new Error('a short write')
  }

  async function wipeAll(): Promise<boolean> {
    if (places.length === 0) return false
    for (const _ of pieces()) {
      await nextTurn()
      if (closed) return false
    }
    await flush(file)
    return true
  }

  return {
    add: (given) => void places.push(...given),
    wipe() {
      running = running.catch(() => false).then(wipeAll)
      return running
    },
    isBusy: () => places.length > 0,
    wipedBytes: () => bytes,
    clear() {
      places.length = 0
      bytes = 0
    },
    close() {
      closed = true
      try {
        for (const _ of pieces()) continue
      } catch {
        // The disk takes no writes: the next start compares what it finds with the feeds.
      }
    },
  }
}
