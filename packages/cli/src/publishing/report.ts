/** The report to the user at the end of a run. */
import type { Output } from '../output.ts'
import { plainText } from '../terminal-text.ts'
import { sumOf, totalsText } from './journal.ts'
import type { Totals } from './journal.ts'
import type { RefusedEntry } from './read-entry.ts'
import type { Run } from './run.ts'

interface RunReport {
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
    ...(run.isContinued ? { wentOnAfter: { [run.unit]: run.acknowledged, ...run.totals } } : {}),
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
          `Of the ${run.unit}s that were answered before the run was interrupted, ${before.toLocaleString('en-GB')} ${before === 1 ? 'was' : 'were'} refused.`,
        ]
  const count = sumOf(totals)
  if (count === 0 || totals.repeated < count) return remarks
  // In a run that continues, these are the events that were stored when it was interrupted.
  if (run.isContinued) return remarks
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
  const position = item === undefined ? `line ${line}` : `item ${item} (line ${line})`
  const at = pointer === undefined || pointer === '' ? '' : ` at ${plainText(pointer)}`
  return `${position}${at}: ${plainText(message)} (${plainText(code)})`
}

/** Advice is for a first look at a new source: a few lines of each kind show it, and the same ones again would hide the rest. */
const maxShown = 20
const maxShownOfCode = 3

/** For programs, which sort it themselves. A file of doubtful payloads has as many remarks as lines. */
const maxListed = 1000

interface AdviceList {
  /** Takes the advice in one answer, and returns the part of it to show. */
  add(advice: readonly RefusedEntry[]): readonly RefusedEntry[]
  /** The first 1,000. */
  listed(): readonly RefusedEntry[]
  /** How often each code came, at least: an answer reports only the first 100 of its events. */
  counts(): Readonly<Record<string, number>>
  /** What was not shown, as a sentence. */
  rest(): string | undefined
}

export function adviceList(): AdviceList {
  const listed: RefusedEntry[] = []
  const counts = new Map<string, number>()
  let total = 0
  let shown = 0
  return {
    add(advice) {
      const toShow = advice.filter((one) => {
        if (listed.length < maxListed) listed.push(one)
        const count = (counts.get(one.code) ?? 0) + 1
        counts.set(one.code, count)
        if (count > maxShownOfCode || shown === maxShown) return false
        shown += 1
        return true
      })
      total += advice.length
      return toShow
    },
    listed: () => listed,
    counts: () => Object.fromEntries(counts),
    rest() {
      if (total === shown) return undefined
      const codes = [...counts].toSorted(([, one], [, other]) => other - one)
      const words = codes.map(([code, count]) => `${code} ${count.toLocaleString('en-GB')}`).join(', ')
      const more = (total - shown).toLocaleString('en-GB')
      return `${more} more remarks are not shown. In all, with at most 100 for each request: ${words}. --json lists them.`
    },
  }
}
