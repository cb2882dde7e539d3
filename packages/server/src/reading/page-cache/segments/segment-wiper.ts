/**
 * Overwrites records of a file with zeros (D17), because they contain payloads that have been erased. The heads come last, so that the
 * next start finds and wipes what a crash has left half done.
 */
import { fdatasync, writeSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { SegmentAddress } from './segment-index.ts'
import { recordStart, wipedHead } from './segment-record.ts'

/** A millisecond or so; then other work gets a turn. */
const bytesAtOnce = 2 ** 20
const zeros = Buffer.alloc(bytesAtOnce)
const flush = promisify(fdatasync)

export function createSegmentWiper(file: number) {
  const places: SegmentAddress[] = []
  let running: Promise<boolean> = Promise.resolve(false)
  let bytes = 0
  let closed = false

  /** In pieces, so that nothing is written to a file that is emptied meanwhile. */
  function* pieces(): Generator<undefined> {
    for (let place = places[0]; place !== undefined; place = places[0]) {
      const [from, to] = [recordStart(place.id, place.at), place.at + place.byteLength]
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
    /** Adds records to wipe. No reader may be using them. */
    add: (given: readonly SegmentAddress[]) => void places.push(...given),
    /** Wipes everything. Resolves when that is on the disk: true if anything was wiped. Rejects if the file cannot be written. */
    wipe(): Promise<boolean> {
      running = running.catch(() => false).then(wipeAll)
      return running
    },
    /** Whether anything remains to be wiped. */
    isBusy: () => places.length > 0,
    /** Bytes wiped since the file was last emptied. */
    wipedBytes: () => bytes,
    /** The file has been emptied, so nothing remains to be wiped. */
    clear(): void {
      places.length = 0
      bytes = 0
    },
    /** Wipes the rest at once, before the file is closed. */
    close(): void {
      closed = true
      try {
        for (const _ of pieces()) continue
      } catch {
        // The disk does not accept the write. The next start compares the file with the feeds.
      }
    },
  }
}
