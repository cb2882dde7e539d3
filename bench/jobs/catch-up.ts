/** J3: a new client reads everything, pages of 1,000 in their order, beside the same bytes from nginx. */
import { join } from 'node:path'
import { isMissing } from '../peers/missing.ts'
import { startNginx } from '../peers/nginx.ts'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { loadCore, runPinned } from '../support/pinned.ts'
import { readIntoPageCache } from '../support/page-cache.ts'
import { checkAnswers, pageTarget, readingSet } from '../support/reading-set.ts'
import type { RunningServer } from '../support/server.ts'
import { startService } from '../support/service.ts'
import { listFile, loadFigures } from '../support/wrk.ts'
import type { BenchOptions } from './context.ts'

const us = 'property-events'
/** Events per page. */
const size = 1_000
const program = join(import.meta.dirname, '../load/fetch-in-order.ts')

export async function benchCatchUp(options: BenchOptions): Promise<void> {
  const set = await readingSet(options.events, options.averageBytes)
  await using nginx = await startNginx(join(options.folder, 'nginx-catch-up'), set.files)
  if (isMissing(nginx)) options.skip('nginx', nginx.missing)
  await using service = await startService(set.folder)
  await checkAnswers(service, set)
  readIntoPageCache(join(set.folder, 'sealed-pages'), join(set.files, String(size)))
  const pages = Array.from({ length: Math.floor(options.events / size) }, (_, index) => index + 1)
  const paths = catchUpPaths(options.folder, options.events)
  const names = listFile(
    options.folder,
    'catch-up-files',
    pages.map((page) => `/${size}/${page}.json`),
  )
  const codings = ['identity', 'gzip'] as const
  const events = pages.length * size
  await measure(
    // The whole feed is one run, however long it takes.
    { ...options, runs: Math.min(options.runs, 3) },
    'J3',
    codings.flatMap((coding) => [
      ...(isMissing(nginx) ? [] : [catchUpCase('nginx', nginx, names, events, coding)]),
      catchUpCase(us, service, paths, events, coding, set.key),
    ]),
  )
  for (const coding of codings) {
    options.aim({
      job: 'J3',
      text: `${catchUpOf(events, coding)}: of nginx`,
      figure: 'eventsPerSecond',
      ours: {
        subject: us,
        what: catchUpOf(events, coding),
      },
      theirs: {
        subject: 'nginx',
        what: catchUpOf(events, coding),
      },
      wanted: { atLeast: 0.7 },
    })
  }
}

/** What is read, in the words of the results. */
export function catchUpOf(events: number, coding: string): string {
  return `all ${events} events, ${coding}`
}

/** The pages of a feed with this many events, in order, as a file for the client. */
export function catchUpPaths(folder: string, events: number): string {
  const pages = Array.from({ length: Math.floor(events / size) }, (_, index) => pageTarget(index + 1, size))
  return listFile(folder, 'catch-up', pages)
}

/** One client reads the listed targets one after the other, once per run. */
export function catchUpCase(
  subject: string,
  server: RunningServer,
  list: string,
  events: number,
  coding: 'identity' | 'gzip',
  key?: string,
): Case {
  return {
    subject,
    what: catchUpOf(events, coding),
    events: size,
    warmRuns: 0,
    run: () =>
      loadFigures(server, () =>
        runPinned(loadCore, process.execPath, [
          program,
          server.url,
          list,
          coding,
          ...(key === undefined ? [] : [key]),
        ]),
      ),
  }
}
