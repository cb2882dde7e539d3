/** What a siege must not have done, and how it is told. */
import { faultyStatuses } from './tally.ts'
import type { SiegeReport } from './siege.ts'

const mebibyte = 2 ** 20

export interface MemoryBounds {
  /** At any time. */
  readonly boundBytes: number
  /** Once the adversaries have gone. */
  readonly backBytes: number
}

/** One sentence for each promise that was broken. */
export function faultsOf(report: SiegeReport, { boundBytes, backBytes }: MemoryBounds): readonly string[] {
  const faults: string[] = []
  for (const { name, bystander, peakBytes, tallies } of report.phases) {
    const { errors, errorCount } = bystander
    if (errorCount > 0) faults.push(`${name}: ${errorCount} errors of the bystander: ${errors.join('; ')}`)
    if (peakBytes > boundBytes) {
      faults.push(`${name}: ${inMiB(peakBytes)} resident, and ${inMiB(boundBytes)} at most are allowed`)
    }
    for (const [adversary, tally] of Object.entries(tallies)) {
      for (const status of faultyStatuses(tally)) faults.push(`${name}: ${adversary} got a ${status}`)
      if (Object.keys(tally).length === 0) faults.push(`${name}: ${adversary} did nothing`)
    }
  }
  for (const kind of ['reads', 'publications', 'arrivals'] as const) {
    const count = report.phases.reduce((sum, { bystander }) => sum + bystander[kind].count, 0)
    if (count === 0) faults.push(`the bystander had no answer to its ${kind}`)
  }
  const { beforeBytes, afterBytes, backAfterMs } = report
  if (afterBytes > backBytes) {
    const seconds = (backAfterMs / 1_000).toFixed(0)
    faults.push(
      `${inMiB(afterBytes)} resident ${seconds} s after the last adversary, and ${inMiB(beforeBytes)} before the first`,
    )
  }
  return faults
}

/** Lines for people: the bystander's times and the memory, phase by phase. */
export function tableOf(report: SiegeReport): readonly string[] {
  const lines = ['phase | kind | count | p50 ms | p99 ms | max ms | errors | peak resident']
  for (const { name, bystander, peakBytes } of report.phases) {
    const { reads, publications, arrivals, errorCount } = bystander
    for (const [kind, { count, p50, p99, max }] of Object.entries({ reads, publications, arrivals })) {
      lines.push([name, kind, count, p50, p99, max, errorCount, inMiB(peakBytes)].join(' | '))
    }
  }
  const { beforeBytes, afterBytes, backAfterMs } = report
  lines.push(
    `resident: ${inMiB(beforeBytes)} before, ${inMiB(afterBytes)} after, ${(backAfterMs / 1_000).toFixed(1)} s after the last adversary`,
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
