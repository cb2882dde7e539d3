/** Memory over minutes of everything at once: pages, polls and publishing. `--minutes` says how many. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { caseResult } from '../support/figures.ts'
import { publicationBodies, publishPath } from '../support/publications.ts'
import { checkAnswers, pageTarget, readingSet } from '../support/reading-set.ts'
import { getCase, postCase } from '../support/requests.ts'
import { startService } from '../support/service.ts'
import type { LoadFigures } from '../support/wrk.ts'
import type { BenchOptions } from './context.ts'
import { limitMiB, memorySettings } from './memory.ts'

const us = 'property-events'
const sliceS = 20
/** Publishing goes into a copy, so the store has a size that is copied quickly. */
const mostEvents = 100_000

export async function soak(options: BenchOptions): Promise<void> {
  const set = await readingSet(Math.min(options.events, mostEvents), options.averageBytes)
  const folder = join(options.folder, 'soak')
  cpSync(set.folder, folder, { recursive: true, filter: (path) => !path.endsWith('/static') })
  await using service = await startService(folder, { args: memorySettings })
  await checkAnswers(service, set)
  const common = { subject: us, what: 'soak', server: service }
  const targets = Array.from({ length: set.pages }, (_, index) => pageTarget(index + 1, 100))
  const plain = getCase(options, { ...common, key: set.key, targets, connections: 8 })
  const zipped = getCase(options, { ...common, key: set.key, targets, gzip: true, connections: 8 })
  const bodies = publicationBodies(options.averageBytes, 1)
  const publishing = postCase(options, {
    ...common,
    path: publishPath,
    keys: [set.key],
    bodies,
    connections: 8,
    events: 1,
  })
  const slices: LoadFigures[] = []
  const count = Math.max(4, Math.round((options.minutes * 60) / sliceS))
  for (let slice = 0; slice < count; slice += 1) {
    const [figures] = await Promise.all([plain, zipped, publishing].map((entry) => entry.run(sliceS)))
    if (figures === undefined || figures.errors > 0) throw new Error('answers were errors')
    slices.push({ ...figures, memoryMiB: service.memoryMiB() })
  }
  // The first quarter fills the caches. Flat means that the last quarter is no larger than the second.
  const quarter = Math.floor(count / 4)
  const [early, late] = [slices.slice(quarter, 2 * quarter), slices.slice(-quarter)]
  const [second, last] = [
    `second quarter of ${options.minutes} minutes`,
    `last quarter of ${options.minutes} minutes`,
  ]
  options.report(caseResult('memory', us, second, early))
  options.report(caseResult('memory', us, last, late))
  options.aim({
    job: 'memory',
    text: `last quarter of ${options.minutes} minutes: of the second`,
    figure: 'memoryMiB',
    ours: {
      subject: us,
      what: last,
    },
    theirs: {
      subject: us,
      what: second,
    },
    wanted: { atMost: 1.05 },
  })
  options.aim({
    job: 'memory',
    text: `after ${options.minutes} minutes: of the limit`,
    figure: 'memoryMiB',
    ours: {
      subject: us,
      what: last,
    },
    theirs: limitMiB,
    wanted: { atMost: 1 },
  })
}
