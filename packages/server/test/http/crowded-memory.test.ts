/** While resident memory is above what the service may have, nothing large is accepted, and everything small is. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBytesInFlight, nodeCounts } from '../../src/http/bytes-in-flight.ts'
import type { FlightUse } from '../../src/http/bytes-in-flight.ts'
import { limitMemory } from '../../src/runtime/memory/process-memory.ts'

const mebibyte = 2 ** 20
const allowed = { pageMemoryBytes: 64 * mebibyte, inFlightBytes: 256 * mebibyte, threads: 1 }
const limits = {
  inFlightBytes: allowed.inFlightBytes,
  inFlightBytesPerKey: 64 * mebibyte,
  inFlightBytesOfStrangers: 16 * mebibyte,
  maxBodyBytes: 16 * mebibyte,
}

interface Crowded {
  /** Has this many MiB resident from now on. */
  readonly see: (size: number) => void
  /** Whether each is accepted that a request may be. */
  readonly accepted: () => Readonly<Record<string, boolean>>
}

/** `atStart`: MiB that are resident when the service begins. */
function withMemory(atStart: number, test: (crowded: Crowded) => void): void {
  let size = atStart
  const residentBytes = (): number => size * mebibyte
  const counts = nodeCounts()
  const inFlight = createBytesInFlight(limits, counts, residentBytes)
  const stop = limitMemory(allowed, counts, residentBytes)
  const accepts = (use: FlightUse, bytes: number): boolean =>
    inFlight.refuses('key', use, bytes) === undefined
  try {
    test({
      see: (next) => (size = next),
      accepted: () => ({
        page: accepts('page', mebibyte),
        largePage: accepts('largePage', mebibyte),
        run: accepts('page', 2 * mebibyte),
        stream: accepts('stream', 65_536),
        snapshot: accepts('snapshot', 2 * mebibyte),
        publication: accepts('publication', mebibyte),
        largePublication: accepts('publication', 2 * mebibyte),
        made: inFlight.count(0, mebibyte),
        madeLarge: inFlight.count(0, 2 * mebibyte),
      }),
    })
  } finally {
    stop()
  }
}

const all = {
  page: true,
  largePage: true,
  run: true,
  stream: true,
  snapshot: true,
  publication: true,
  largePublication: true,
  made: true,
  madeLarge: true,
}
const small = { ...all, largePage: false, run: false, snapshot: false, madeLarge: false }

describe('memory that is above what is promised', () => {
  it('refuses large reads first, then large publications, and never anything small (P5, P10)', () => {
    withMemory(120, ({ see, accepted }) => {
      see(440)
      assert.deepEqual(accepted(), all)
      see(441)
      assert.deepEqual(accepted(), small)
      see(466)
      assert.deepEqual(accepted(), { ...small, largePublication: false })
      see(440)
      assert.deepEqual(accepted(), all)
    })
  })

  it('is more where many keys and tenants take more at rest: that, what may be in flight, and 50 MiB a thread (P5)', () => {
    withMemory(600, ({ see, accepted }) => {
      assert.deepEqual(accepted(), all)
      see(906)
      assert.deepEqual(accepted(), all)
      see(907)
      assert.deepEqual(accepted(), small)
    })
  })
})
