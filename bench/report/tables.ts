/** Tables of the document. */
import type { CaseResult } from '../support/figures.ts'
import type { TargetFigure, TargetResult } from '../support/targets.ts'

/** Columns of text are left-aligned, of figures right-aligned. */
export function table(
  columns: readonly (readonly [name: string, align: 'left' | 'right'])[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const rule = columns.map(([, align]) => (align === 'left' ? '---' : '--:'))
  return [line(columns.map(([name]) => name)), `|${rule.join('|')}|`, ...rows.map(line)].join('\n')
}

/** Two or three significant digits, with thousands separated. */
export function number(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.01) return String(Number(value.toPrecision(2)))
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en-GB', { maximumFractionDigits: digits })
}

type Cell = (result: CaseResult) => string | undefined

const optional = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : number(value)

const caseColumns: readonly (readonly [name: string, cell: Cell])[] = [
  ['requests/s', ({ requestsPerSecond }) => number(requestsPerSecond)],
  ['events/s', ({ eventsPerSecond }) => optional(eventsPerSecond)],
  ['MB/s', ({ megabytesPerSecond }) => number(megabytesPerSecond)],
  ['p50 ms', ({ p50Ms }) => number(p50Ms)],
  ['p99 ms', ({ p99Ms }) => number(p99Ms)],
  ['CPU µs/request', ({ cpuMicrosecondsPerRequest }) => optional(cpuMicrosecondsPerRequest)],
  ['memory MiB', ({ memoryMiB }) => optional(memoryMiB)],
  ['statements/request', ({ queriesPerRequest }) => optional(queriesPerRequest)],
  ['spread', ({ spread, runs }) => (runs.length < 2 ? undefined : `${Math.round(spread * 100)} %`)],
]

/** The measurements. Columns that no case has are left out. */
export function caseTable(results: readonly CaseResult[]): string {
  const shown = caseColumns.filter(([, cell]) => results.some((result) => cell(result) !== undefined))
  return table(
    [['who', 'left'], ['what', 'left'], ...shown.map(([name]) => [name, 'right'] as const)],
    results.map((result) => [
      result.subject,
      result.durability === undefined ? result.what : `${result.what} (${result.durability})`,
      ...shown.map(([, cell]) => cell(result) ?? ''),
    ]),
  )
}

const units: Readonly<Record<TargetFigure, string>> = {
  requestsPerSecond: '/s',
  eventsPerSecond: ' events/s',
  megabytesPerSecond: ' MB/s',
  p50Ms: ' ms',
  p99Ms: ' ms',
  cpuMicrosecondsPerRequest: ' µs',
  memoryMiB: ' MiB',
  queriesPerRequest: ' statements',
}

export function targetTable(targets: readonly TargetResult[]): string {
  return table(
    [
      ['job', 'left'],
      ['target', 'left'],
      ['wanted', 'right'],
      ['ratio', 'right'],
      ['', 'left'],
      ['ours', 'right'],
      ['theirs', 'right'],
    ],
    targets.map(({ job, text, wanted, ratio, reached, ourValue, theirValue, figure }) => [
      job,
      text,
      'atLeast' in wanted ? `≥ ${wanted.atLeast}` : `≤ ${wanted.atMost}`,
      number(ratio),
      reached ? 'reached' : '**missed**',
      `${number(ourValue)}${units[figure]}`,
      `${number(theirValue)}${units[figure]}`,
    ]),
  )
}
