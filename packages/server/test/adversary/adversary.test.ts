/**
 * With any key or none, nobody makes the service stall, swell or refuse somebody else. Services as operators run them are attacked by other
 * processes over sockets: by readers, publishers, strangers and walkers, each kind by itself and then all at once, while a bystander reads
 * and publishes. Its times are printed and not judged; its errors and the service's memory are.
 *
 * Some 40 s in `npm test`; ten minutes in `test:long`, with every engine and transport.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defaultLimits } from '../../src/index.ts'
import { memoryTrimmer } from '../../src/runtime/memory/process-memory.ts'
import type { Setting } from './attacked-service.ts'
import { faultsOf, tableOf, talliesOf } from './check-siege.ts'
import { adversaries, phases } from './adversaries.ts'
import type { AdversaryName, Phases } from './adversaries.ts'
import { waitedFor } from './readers.ts'
import { besiege, comesBackTo } from './siege.ts'
import type { SiegeReport } from './siege.ts'

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
const seed = Number(
  process.env['PROPERTY_EVENTS_TEST_SEED'] ?? (isLong ? Math.floor(Math.random() * 1e9) : 1),
)

/** Only these, each by itself, for those who look for something. */
const named = process.env['PROPERTY_EVENTS_TEST_ADVERSARIES']?.split(',')
const chosen: Phases =
  named === undefined
    ? phases
    : Object.fromEntries(
        (Object.keys(adversaries) as AdversaryName[])
          .filter((name) => named.includes(name))
          .map((name) => [name, [name]]),
      )

const mebibyte = 2 ** 20
const pageMemoryBytes = 64 * mebibyte
const budgetBytes = defaultLimits.inFlightBytes
/** What else it may take, at rest and beside what is counted. */
const besideBytes = 200 * mebibyte
const boundBytes = pageMemoryBytes + budgetBytes + besideBytes
/** Without what gives memory back (runtime/memory/process-memory.ts), and in the short form, where nobody waits for it, it is bounded as before. */
const comesBack = isLong && memoryTrimmer() !== undefined
const backBytesOf = ({ beforeBytes }: SiegeReport): number =>
  comesBack ? comesBackTo(beforeBytes) : boundBytes

/** Of the service, while a request waits: its own answer, and whatever else has its turn before. */
const workMs = 5_000

/** What a service has by default in the short form; the other engine and transport are the long one's. */
const short: readonly Setting[] = [{ engine: 'sqlite', plainConnections: 'on' }]
const long: readonly Setting[] = (['sqlite', 'postgres'] as const).flatMap((engine) =>
  (['on', 'off'] as const).map((plainConnections) => ({ engine, plainConnections })),
)
const lengths = isLong
  ? { strength: 3, phaseMs: 5_000, allAtOnceMs: 40_000, restMs: 60_000 }
  : { strength: 1, phaseMs: 800, allAtOnceMs: 0, restMs: 0 }

describe('whatever adversaries do', () => {
  for (const setting of isLong ? long : short) {
    const { engine, plainConnections } = setting
    const name = `${engine}, plain connections ${plainConnections}`
    it(`a bystander is served and memory is bounded and comes back: ${name} (P5, P10, P11)`, async (test) => {
      const { readers, uploads, walkers, strangers, oddities } = phases
      const attacks =
        isLong || named !== undefined ? chosen : { readers, walkers, uploads, strangers, oddities }
      const report = await besiege({ ...setting, ...lengths, phases: attacks, seed })
      test.diagnostic(`seed ${seed}`)
      for (const line of [...tableOf(report), ...talliesOf(report)]) test.diagnostic(line)
      const bounds = { boundBytes, backBytes: backBytesOf(report), workMs }
      assert.deepEqual(faultsOf(report, bounds), [], `seed ${seed}`)
    })
  }
})

describe('a siege', () => {
  const times = { count: 10, p50: 1, p99: 2, max: 3 }
  const errors: readonly string[] = []
  const quiet = { reads: times, publications: times, arrivals: times, errors, errorCount: 0, mostWorkMs: 5 }
  const calm = { name: 'calm', bystander: quiet, peakBytes: 100, tallies: { readers: { 200: 1 } } }
  const memory = { beforeBytes: 100, afterBytes: 110, restAfterMs: 0, tookMs: 0 }
  const report = { phases: [calm], ...memory, leftBytes: 0, idleReadersServed: 0 }
  const bounds = { boundBytes: 200, backBytes: 120, workMs: 10 }
  const withPhase = (phase: Partial<typeof calm>) => ({ ...report, phases: [{ ...calm, ...phase }] })

  it('is judged: errors and silence for the bystander, memory, and failures of the service are each told', () => {
    assert.deepEqual(faultsOf(report, bounds), [])
    const refused = { ...quiet, errors: ['reads: answered 503'], errorCount: 1 }
    const none = { ...times, count: 0 }
    for (const [broken, told] of [
      [withPhase({ bystander: refused }), /1 errors of the bystander: reads: answered 503/],
      [withPhase({ bystander: { ...quiet, reads: none } }), /no answer to its reads/],
      [withPhase({ bystander: { ...quiet, publications: none } }), /no answer to its publications/],
      [withPhase({ peakBytes: 201 }), /resident, and .* at most/],
      [withPhase({ tallies: { readers: { 500: 1 } } as never }), /readers got a 500/],
      [withPhase({ tallies: { readers: {} } as never }), /readers did nothing/],
      [withPhase({ bystander: { ...quiet, mostWorkMs: 11 } }), /waited for 11 ms of work/],
      [withPhase({ tallies: { readers: { [waitedFor]: 1 } } as never }), /readers was sent the whole page/],
      [{ ...report, afterBytes: 121 }, /after the last adversary/],
      [{ ...report, leftBytes: 1 }, /1 bytes are in flight/],
      [{ ...report, idleReadersServed: 1 }, /1 readers that took nothing/],
    ] as const) {
      const faults = faultsOf(broken, bounds)
      assert.equal(faults.length, 1)
      assert.match(faults[0] ?? '', told)
    }
  })
})
