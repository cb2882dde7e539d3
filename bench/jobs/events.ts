/** J2: single events by id, at random over the whole store, beside nginx with the same bytes and Fastify with one of them in memory. */
import { join } from 'node:path'
import { startProgram } from '../peers/bare-node.ts'
import { isMissing } from '../peers/missing.ts'
import { openFilesForSure, startNginx } from '../peers/nginx.ts'
import { measure } from '../support/measure.ts'
import { readIntoPageCache } from '../support/page-cache.ts'
import { byIdPath, checkAnswers, readingSet } from '../support/reading-set.ts'
import type { ReadingSet } from '../support/reading-set.ts'
import { getCase } from '../support/requests.ts'
import { startService } from '../support/service.ts'
import type { BenchOptions } from './context.ts'

const us = 'property-events'
const what = 'one event'
const readyBuffer = 'Fastify, a ready buffer'

export async function benchEvents(options: BenchOptions): Promise<void> {
  const set = await readingSet(options.events, options.averageBytes)
  await using nginx = await startNginx(join(options.folder, 'nginx-events'), set.files)
  if (isMissing(nginx)) options.skip('nginx', nginx.missing)
  const ids = askedIds(set)
  await using service = await startService(set.folder)
  await checkAnswers(service, set)
  readIntoPageCache(
    join(set.folder, 'property-events.db'),
    join(set.folder, 'sealed-pages'),
    join(set.files, 'events'),
  )
  const middle = set.ids[Math.floor(set.ids.length / 2)] ?? ''
  await using fastify = await startProgram('ready-buffer.ts', [join(set.files, 'events', `${middle}.json`)])
  const limit = isMissing(nginx)
    ? []
    : [
        getCase(options, {
          subject: 'nginx',
          what,
          server: nginx,
          targets: ids.map((id) => `/events/${id}.json`),
        }),
      ]
  await measure(options, 'J2', [
    ...limit,
    getCase(options, {
      subject: us,
      what,
      server: service,
      key: set.key,
      targets: ids.map((id) => `${byIdPath}/${id}`),
    }),
    getCase(options, { subject: readyBuffer, what, server: fastify, targets: [`${byIdPath}/${middle}`] }),
  ])
  options.aim({
    job: 'J2',
    text: 'one event by id: of nginx',
    figure: 'requestsPerSecond',
    ours: {
      subject: us,
      what,
    },
    theirs: {
      subject: 'nginx',
      what,
    },
    wanted: { atLeast: 0.5 },
  })
  options.aim({
    job: 'J2',
    text: 'one event by id: of Fastify with a ready buffer',
    figure: 'requestsPerSecond',
    ours: {
      subject: us,
      what,
    },
    theirs: {
      subject: readyBuffer,
      what,
    },
    wanted: { atLeast: 1 },
  })
}

/** As many as nginx can keep files open for, spread evenly. They recur within a run, so the service remembers their positions. */
export function askedIds({ ids }: ReadingSet): readonly string[] {
  const step = Math.ceil(ids.length / openFilesForSure)
  return ids.filter((_, index) => index % step === 0)
}
