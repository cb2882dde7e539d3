/**
 * What a second core brings: the same reads from one serving thread and from two. The service has both cores and shares
 * one of them with the load, so twice as much is out of reach by what the load takes.
 */
import { join } from 'node:path'
import { measure } from '../support/measure.ts'
import { readIntoPageCache } from '../support/page-cache.ts'
import { byIdPath, checkAnswers, listPath, pageTarget, readingSet } from '../support/reading-set.ts'
import { get, getCase } from '../support/requests.ts'
import { startService } from '../support/service.ts'
import type { BenchOptions } from './context.ts'

const connections = 64

export async function benchWorkers(options: BenchOptions): Promise<void> {
  const set = await readingSet(options.events, options.averageBytes)
  const { key } = set
  readIntoPageCache(join(set.folder, 'sealed-pages'))
  for (const workers of [1, 2]) {
    await using server = await startService(set.folder, {
      core: '0,1',
      args: ['--workers', String(workers), '--page-memory-bytes', String(256 * 2 ** 20)],
    })
    await checkAnswers(server, set)
    const unchanged = `${listPath}?page=${set.pages + 1}`
    const { headers } = await get(`${server.url}${unchanged}`, {
      'x-api-key': key,
      'accept-encoding': 'identity',
    })
    const common = { subject: `property-events, ${workers} serving`, server, key, connections }
    const pages = Array.from({ length: set.pages }, (_, index) => pageTarget(index + 1, 100))
    await measure(options, 'workers', [
      getCase(options, { ...common, what: 'page of 100', targets: pages }),
      getCase(options, { ...common, what: 'page of 100, gzip', targets: pages, gzip: true }),
      getCase(options, { ...common, what: 'one event', targets: set.ids.map((id) => `${byIdPath}/${id}`) }),
      getCase(options, {
        ...common,
        what: 'unchanged, with If-None-Match',
        targets: [unchanged],
        tag: String(headers['etag']),
      }),
    ])
  }
}
