/** What `bench/why.ts` measured, for the document: for each engine, the run with the most events. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { WhyResult, WhyTimes } from '../why.ts'
import { number } from './tables.ts'

const fileName = /^why-(?:sqlite|postgres)-\d+\.json$/
const engines = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

/** Engines that were never measured are left out. */
export function readWhys(resultsFolder: string): readonly WhyResult[] {
  const all = readdirSync(resultsFolder)
    .filter((name) => fileName.test(name))
    .map((name): WhyResult => JSON.parse(readFileSync(join(resultsFolder, name), 'utf8')))
    .toSorted((a, b) => b.events - a.events)
  return (['sqlite', 'postgres'] as const).flatMap(
    (engine) => all.find((result) => result.engine === engine) ?? [],
  )
}

export function whySection(whys: readonly WhyResult[]): readonly string[] {
  if (whys.length === 0) return []
  const heads = ['engine', 'events', 'consumers', 'what', 'requests each', 'median ms', 'slowest ms']
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rows = whys.flatMap(({ engine, events, consumers, route, command }) => {
    const line = (what: string, requests: number, { medianMs, mostMs }: WhyTimes): string =>
      row([
        engines[engine],
        number(events),
        number(consumers),
        what,
        number(requests),
        number(medianMs),
        number(mostMs),
      ])
    return [
      line('`GET /v1/properties/{ref}/consumers`', 1, route),
      line('`property-events why REF`', command.requestsEach, command),
    ]
  })
  return [
    '## Why a property is not on a site',
    'The answer for 20 properties, one after another, after each consumer has read 40 pages here and there. The times of the command include the start of its process. ' +
      'The service, the database and the commands share the machine (`bench/why.ts`). The command may take two requests at most.',
    [row(heads), '|---|--:|--:|---|--:|--:|--:|', ...rows].join('\n'),
  ]
}
