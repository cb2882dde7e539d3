/** What a siege must not have done, and how it is told. */
import { waitedFor } from './readers.ts'
import { faultyStatuses } from './tally.ts'
import type { SiegeReport } from './siege.ts'

const mebibyte = 2 ** 20

export interface Bounds {
  /** At any time. */
  readonly boundBytes: number
  /** Once the adversaries have gone. */
  readonly backBytes: number
  /** For how long the service may work on other things while a request of the bystander waits. */
  readonly workMs: number
}

/** One sentence for each promise that was broken. */
export function faultsOf(report: SiegeReport, bounds: Bounds): readonly string[] {
  const { boundBytes, backBytes, workMs } = bounds
  const faults: string[] = []
  for (const { name, bystander, peakBytes, tallies } of report.phases) {
    const { errors, errorCount, mostWorkMs } = bystander
    if (errorCount > 0) faults.push(`${name}: ${errorCount} errors of the bystander: ${errors.join('; ')}`)
    if (mostWorkMs > workMs) {
      faults.push(
        `${name}: a request of the bystander waited for ${mostWorkMs} ms of work, and ${workMs} are allowed`,
      )
    }
    if (peakBytes > boundBytes) {
      faults.push(`${name}: ${inMiB(peakBytes)} resident, and ${inMiB(boundBytes)} at most are allowed`)
    }
    for (const [adversary, tally] of Object.entries(tallies)) {
      for (const status of faultyStatuses(tally)) faults.push(`${name}: ${adversary} got a ${status}`)
      if (waitedFor in tally) faults.push(`${name}: ${adversary} ${waitedFor}`)
      if (Object.keys(tally).length === 0) faults.push(`${name}: ${adversary} did nothing`)
    }
  }
  for (const kind of ['reads', 'publications', 'arrivals'] as const) {
    const count = report.phases.reduce((sum, { bystander }) => sum + bystander[kind].count, 0)
    if (count === 0) faults.push(`the bystander had no answer to its ${kind}`)
  }
  const { beforeBytes, afterBytes, restAfterMs, leftBytes, idleReadersServed } = report
  if (leftBytes > 0) faults.push(`${leftBytes} bytes are in flight although everybody has gone`)
  if (idleReadersServed > 0) faults.push(`${idleReadersServed} readers that took nothing were waited for`)
  if (afterBytes > backBytes) {
    const seconds = (restAfterMs / 1_000).toFixed(0)
    faults.push(
      `${inMiB(afterBytes)} resident ${seconds} s after the last adversary, and ${inMiB(beforeBytes)} before the first`,
    )
  }
  return faults
}

/** Lines for people: the bystander's times and the memory, phase by phase. */
export function tableOf(report: SiegeReport): readonly string[] {
  const lines = ['phase | kind | count | p50 ms | p99 ms | max ms | errors | most work ms | peak resident']
  for (const { name, bystander, peakBytes } of report.phases) {
    const { reads, publications, arrivals, errorCount, mostWorkMs } = bystander
    for (const [kind, { count, p50, p99, max }] of Object.entries({ reads, publications, arrivals })) {
      lines.push([name, kind, count, p50, p99, max, errorCount, mostWorkMs, inMiB(peakBytes)].join(' | '))
    }
  }
  const { beforeBytes, afterBytes, restAfterMs } = report
  lines.push(
    `resident: ${inMiB(beforeBytes)} before, ${inMiB(afterBytes)} after, ${(restAfterMs / 1_000).toFixed(1)} s after the last adversary`,
  )
  return lines
}

/** What the adversaries were answered. */
export function talliesOf(report: SiegeReport): readonly string[] {
  return report.phases.flatMap(({ name, tallies }) =>
    Object.entries(tallies).map(([adversary, tally]) => `${name}: ${adversary} ${JSON.stringify(tally)}`),
  )
}

function inMiB(bytes: number): string {
  return `${Math.round(bytes / mebibyte)} MiB`
}
