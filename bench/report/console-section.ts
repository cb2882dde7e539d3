/** The part of `docs/performance.md` about the console: from the run of `bench/console.ts` with the most events. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { linesOf } from '../console/results.ts'
import type { ConsoleResults } from '../console/results.ts'
import { number, table } from './tables.ts'

/** `undefined`: it was never run. */
export function readConsoleResults(folder: string): ConsoleResults | undefined {
  return readdirSync(folder)
    .filter((name) => /^console-\d+\.json$/.test(name))
    .map((name): ConsoleResults => JSON.parse(readFileSync(join(folder, name), 'utf8')))
    .toSorted((a, b) => b.events - a.events)[0]
}

const how =
  'In a real Chromium without a graphics card, on the machine of the service. Each page is loaded with nothing in the cache of the browser; its first paint is a sentence that it starts, and it is all there ' +
  'once the first row of its list is. The slow line carries 1.6 Mbit/s with a processor that is slowed down 4 times, as the browser does it for developers. Frames are those of ten seconds each, of a ' +
  'list of the whole feed. A demo is started beside the build before the console, in turn. These figures are aims and are not asserted; the sizes are.'

/** Blocks of the document. Empty if it was never run. */
export function consoleSection(results: ConsoleResults | undefined): readonly string[] {
  if (results === undefined) return []
  const { machine, events, takenAt, browser } = results
  const { cpu, cores, memoryGiB, node } = machine
  return [
    '## The console',
    how,
    `${takenAt.slice(0, 10)}; ${cpu}, ${cores} cores, ${memoryGiB} GiB, Node ${node}, Chromium ${browser}; a feed of ${number(events)} events.`,
    table(
      [
        ['what', 'left'],
        ['median', 'right'],
        ['aim', 'left'],
      ],
      linesOf(results).map(({ what, figure, aim }) => [what, figure, aim]),
    ),
  ]
}
