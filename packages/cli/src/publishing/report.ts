/** The report to the user at the end of a run. */
import type { Output } from '../output.ts'
import { plainText } from '../terminal-text.ts'
import type { AdviceList } from './advice.ts'
import type { RefusedEntry } from './read-entry.ts'
import type { Run } from './run.ts'
import { sumOf, totalsText } from './totals.ts'
import type { Totals } from './totals.ts'

export interface RunReport {
  readonly run: Run
  /** Of this command; earlier totals of the run are in `run`. */
  readonly totals: Totals
  readonly refusedLines: readonly RefusedEntry[]
  readonly advice: AdviceList
  readonly dryRun: boolean
}

export async function reportRun(output: Output, report: RunReport): Promise<void> {
  const { run, totals, refusedLines, advice, dryRun } = report
  for (const sentence of remarksOn(report)) output.say(sentence)
  const rest = advice.rest()
  if (!output.json && rest !== undefined) output.say(rest)
  if (!output.json) return output.write(`${totalsText(totals, dryRun)}\n`)
  const lines = refusedLines.map(lineOf)
  const warnings = advice.listed().map(lineOf)
  return output.writeJson({
    ...totals,
    ...(lines.length > 0 ? { refusedLines: lines } : {}),
    ...(warnings.length > 0 ? { warnings, warningCounts: advice.counts() } : {}),
    ...(run.isGoneOnWith ? { wentOnAfter: { [run.unit]: run.acknowledged, ...run.totals } } : {}),
  })
}

function lineOf({ line, item, code, pointer, message }: RefusedEntry) {
  return { line, item, code, pointer, message }
}

function remarksOn({ run, totals }: RunReport): readonly string[] {
  const before = run.totals.refused
  const remarks =
    before === 0
      ? []
      : [
          `Of the ${run.unit}s that were answered before the run was cut off, ${before.toLocaleString('en-GB')} ${before === 1 ? 'was' : 'were'} refused.`,
        ]
  const count = sumOf(totals)
  if (count === 0 || totals.repeated < count) return remarks
  // In a run that continues, these are the events that were stored when it was cut off.
  if (run.isGoneOnWith) return remarks
  const each =
    count === 1
      ? `the one ${run.unit} carries`
      : `each of the ${count.toLocaleString('en-GB')} ${run.unit}s carries`
  return [
    ...remarks,
    `NOTHING WAS STORED: ${each} an id that the feed has had before. An id counts once, so that a retry repeats nothing. ` +
      'If these are new changes, give each an id of its own, or leave ids out.',
  ]
}

/** A line of the file, and the remark about it. */
export function entryText({ line, item, code, pointer, message }: RefusedEntry): string {
  const place = item === undefined ? `line ${line}` : `item ${item} (line ${line})`
  const at = pointer === undefined || pointer === '' ? '' : ` at ${plainText(pointer)}`
  return `${place}${at}: ${plainText(message)} (${plainText(code)})`
}
