/** J1: pages at random over the whole store, beside nginx with the same bytes; other sizes, a category, windows. */
import { join } from 'node:path'
import { isMissing } from '../peers/missing.ts'
import { startNginx } from '../peers/nginx.ts'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { readIntoPageCache } from '../support/page-cache.ts'
import { otherTargets } from '../support/page-targets.ts'
import { checkAnswers, pageTarget, readingSet } from '../support/reading-set.ts'
import { getCase } from '../support/requests.ts'
import { startService } from '../support/service.ts'
import type { BenchOptions } from './context.ts'

/** Pages kept in memory by the first group, spread evenly over the whole depth: 20,000 events. */
const pagesInMemory = 200
const enoughBytes = 256 * 2 ** 20
const us = 'property-events'

export async function benchPages(options: BenchOptions): Promise<void> {
  const set = await readingSet(options.events, options.averageBytes)
  const { key, pages } = set
  // One for each coding, so that each can keep all its files open with the settings that suit it best.
  await using plain = await startNginx(join(options.folder, 'nginx-plain'), set.files)
  await using zipped = await startNginx(join(options.folder, 'nginx-gzip'), set.files, 'off')
  if (isMissing(plain)) options.skip('nginx', plain.missing)

  const limit = (what: string, chosen: readonly number[], gzip: boolean): readonly Case[] => {
    const server = gzip ? zipped : plain
    if (isMissing(server)) return []
    const targets = chosen.map((page) => `/100/${page}.json`)
    return [getCase(options, { subject: 'nginx', what, server, gzip, targets })]
  }
  const both = [false, true]
  const named = (what: string, gzip: boolean): string => (gzip ? `${what}, gzip` : what)

  const spread = Array.from({ length: Math.min(pagesInMemory, pages) }, (_, index) =>
    Math.max(1, Math.floor(((index + 1) * pages) / Math.min(pagesInMemory, pages))),
  )
  {
    await using service = await startService(set.folder, {
      args: ['--page-memory-bytes', String(enoughBytes)],
    })
    await checkAnswers(service, set)
    const targets = spread.map((page) => pageTarget(page, 100))
    const what = 'page of 100, in memory'
    await measure(
      options,
      'J1',
      both.flatMap((gzip) => [
        ...limit(named(what, gzip), spread, gzip),
        getCase(options, { subject: us, what: named(what, gzip), server: service, targets, key, gzip }),
      ]),
    )
    aimAtLimit(options, what, 0.85)
    aimAtLimit(options, named(what, true), 0.5)
  }

  await using service = await startService(set.folder, { args: ['--page-memory-bytes', '0'] })
  await checkAnswers(service, set)
  readIntoPageCache(join(set.folder, 'sealed-pages'), join(set.files, '100'))
  const all = Array.from({ length: pages }, (_, index) => index + 1)
  const targets = all.map((page) => pageTarget(page, 100))
  const what = 'page of 100, nothing in memory'
  await measure(
    options,
    'J1',
    both.flatMap((gzip) => [
      ...limit(named(what, gzip), all, gzip),
      getCase(options, { subject: us, what: named(what, gzip), server: service, targets, key, gzip }),
    ]),
  )
  aimAtLimit(options, what, 0.5)
  aimAtLimit(options, named(what, true), 0.5)
  options.aim({
    job: 'J1',
    text: `${what}: gzip beside our identity`,
    figure: 'requestsPerSecond',
    ours: {
      subject: us,
      what: named(what, true),
    },
    theirs: {
      subject: us,
      what,
    },
    wanted: { atLeast: 2 },
  })

  const others = await otherTargets(service, key, options.events)
  await measure(
    options,
    'J1',
    others.flatMap(([what, targets]) =>
      both.map((gzip) =>
        getCase(options, { subject: us, what: named(what, gzip), server: service, targets, key, gzip }),
      ),
    ),
  )
}

function aimAtLimit(options: BenchOptions, what: string, atLeast: number): void {
  options.aim({
    job: 'J1',
    text: `${what}: of nginx`,
    figure: 'requestsPerSecond',
    ours: {
      subject: us,
      what,
    },
    theirs: {
      subject: 'nginx',
      what,
    },
    wanted: { atLeast },
  })
}
