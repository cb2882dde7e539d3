/** A service attacked phase by phase, while a bystander goes about its business and its memory is watched. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { call, listPath } from '../support/http-client.ts'
import { until, within } from '../support/until.ts'
import type { AdversaryName, Phases } from './adversaries.ts'
import type { Orders, Tallies } from './adversary-process.ts'
import { startAttacked } from './attacked-service.ts'
import type { Attacked, AttackedOptions } from './attacked-service.ts'
import type { BystanderReport } from './bystander.ts'
import { startIdleReaders } from './idle-readers.ts'
import { memoryAtRest, watchMemory } from './memory-watch.ts'

export interface SiegeOptions extends AttackedOptions {
  readonly seed: number
  /** Each phase. */
  readonly phaseMs: number
  /** All of them at once, after the phases; 0: never. */
  readonly allAtOnceMs: number
  /** How long its memory may take to come to rest, before and after; 0: it is not waited for. */
  readonly restMs: number
  readonly phases: Phases
}

export interface PhaseReport {
  readonly name: string
  readonly bystander: BystanderReport
  readonly peakBytes: number
  readonly tallies: Tallies
}

export interface SiegeReport {
  readonly phases: readonly PhaseReport[]
  /** Resident before the first adversary came, at rest. */
  readonly beforeBytes: number
  /** After the last one had gone, at rest again. */
  readonly afterBytes: number
  readonly restAfterMs: number
  /** That the service still counted as in flight when everybody had gone. */
  readonly leftBytes: number
  /** Readers that took nothing from the beginning to the end, and were waited for all the same. */
  readonly idleReadersServed: number
  /** Of all of it. */
  readonly tookMs: number
}

/** After the last adversary, for a service that is to come back to what it was. */
export function comesBackTo(beforeBytes: number): number {
  return 1.2 * beforeBytes
}

export async function besiege(options: SiegeOptions): Promise<SiegeReport> {
  const startMs = performance.now()
  await using attacked = await startAttacked(options)
  using memory = watchMemory(attacked.pid)
  await using bystander = await startHelper('bystander.ts')
  bystander.child.send(attacked.bystander)
  const reports: PhaseReport[] = []
  const phase = async (
    name: string,
    ms: number,
    groups: readonly (readonly AdversaryName[])[],
  ): Promise<void> => {
    await memory.peak()
    await bystander.ask<BystanderReport>('report')
    const tallies = await attack(attacked, groups, options.seed + reports.length, ms)
    const report = await bystander.ask<BystanderReport>('report')
    reports.push({ name, bystander: report, peakBytes: await memory.peak(), tallies })
  }
  // Page memory fills further while the same is read again.
  for (let round = 0; round < (options.restMs > 0 ? 3 : 1); round += 1) await readOnce(attacked)
  const over = new AbortController()
  const idleReaders = await startIdleReaders(attacked.target, over.signal)
  await phase('nobody', options.phaseMs, [])
  const { bytes: beforeBytes } = await memoryAtRest(memory, options.restMs)
  for (const [name, adversaries] of Object.entries(options.phases)) {
    await phase(name, options.phaseMs, [adversaries])
  }
  if (options.allAtOnceMs > 0) await phase('all at once', options.allAtOnceMs, Object.values(options.phases))
  // Idle readers among them, of whom some took up to now to fill what the system holds for them.
  const leftBytes = await bytesInFlight(attacked)
  const idleReadersServed = await idleReaders.served()
  over.abort()
  const { bytes: afterBytes, afterMs: restAfterMs } = await memoryAtRest(
    memory,
    options.restMs,
    comesBackTo(beforeBytes),
  )
  await phase('nobody any more', options.phaseMs, [])
  const after = { afterBytes, restAfterMs, leftBytes, idleReadersServed }
  return { phases: reports, beforeBytes, ...after, tookMs: performance.now() - startMs }
}

/**
 * As ordinary clients read what adversaries will ask for: what a service keeps of a day's work, ready-made pages above all, it keeps before
 * its memory is measured.
 */
async function readOnce({ target }: Attacked): Promise<void> {
  const pages = Array.from({ length: 10 }, (_, index) => `${listPath}?pageSize=25&page=${index + 1}`)
  const paths = [`${listPath}?pageSize=1000`, ...pages, '/v1/property-events/snapshot']
  for (const keys of [target.largeKeys, target.longKeys]) {
    for (const coding of ['identity', 'gzip']) {
      for (const path of paths) {
        const { status } = await call(target, path, { key: keys[0], headers: { 'accept-encoding': coding } })
        if (status !== 200) throw new Error(`an ordinary reader was answered ${status}`)
      }
    }
  }
}

async function attack(
  { target }: Attacked,
  groups: readonly (readonly AdversaryName[])[],
  seed: number,
  ms: number,
): Promise<Tallies> {
  const gangs = await Promise.all(groups.map(() => startHelper('adversary-process.ts')))
  for (const [index, { child }] of gangs.entries()) {
    const orders: Orders = { target, names: groups[index] ?? [], seed: seed + 1_000 * index }
    child.send(orders)
  }
  await delay(ms)
  const tallies = await Promise.all(gangs.map((gang) => gang.ask<Tallies>('enough')))
  return Object.assign({}, ...tallies)
}

/** Nothing of the attack is to be left, once what came whole has been read and stored: on a busy machine that takes a while. */
async function bytesInFlight({ metricsUrl }: Attacked): Promise<number> {
  let bytes = 0
  const isNone = async (): Promise<boolean> => {
    const metrics = await (await fetch(metricsUrl)).text()
    bytes = Number(/^property_events_in_flight_bytes (\d+)/m.exec(metrics)?.[1])
    return bytes === 0
  }
  await until(isNone, { timeoutMs: 120_000 }).catch(() => undefined)
  return bytes
}

interface Helper extends AsyncDisposable {
  readonly child: ChildProcess
  ask<T>(what: string): Promise<T>
}

async function startHelper(file: string): Promise<Helper> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return {
    child,
    async ask<T>(what: string): Promise<T> {
      const told = once(child, 'message')
      child.send(what)
      const [answer] = await within(told, { what: `the word of ${file}`, timeoutMs: 60_000 })
      return answer as T
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
