/** J1 at depth: the last page beside the first, and a large store of small events beside one a hundredth its size. */
import { join } from 'node:path'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { readIntoPageCache } from '../support/page-cache.ts'
import { pageTarget, sealAll } from '../support/reading-set.ts'
import { getCase, getOk } from '../support/requests.ts'
import type { RunningServer } from '../support/server.ts'
import { startService } from '../support/service.ts'
import { filledStore, keysOf } from '../support/store.ts'
import type { BenchOptions } from './context.ts'

const averageBytes = 500
const us = 'property-events'
/** Ten million events make 9 GB of ready-made pages, and the service's own limit is 8. */
const args = ['--page-memory-bytes', '0', '--page-file-bytes', String(2 ** 35)]

/** Ten events for each of `--events`: with a million of them, ten million. */
export async function benchDepth(options: BenchOptions): Promise<void> {
  const [deep, shallow] = [options.events * 10, Math.max(1_000, options.events / 10)]
  const large = await prepared(deep)
  const small = await prepared(shallow)
  await using largeService = await startService(large.folder, { args })
  await using smallService = await startService(small.folder, { args })
  await checkPages(largeService, large)
  await checkPages(smallService, small)
  readIntoPageCache(...[small, large].map(({ folder }) => join(folder, 'sealed-pages')))
  const of = (what: string, server: RunningServer, key: string, targets: readonly string[]): Case =>
    getCase(options, { subject: us, what, server, key, targets })
  const everywhere = ({ pages }: Prepared): readonly string[] =>
    Array.from({ length: pages }, (_, index) => pageTarget(index + 1, 100))
  const named = (events: number): string =>
    `page of 100, of ${events.toLocaleString('en-GB')} events of ${averageBytes} bytes`
  const [first, last] = [`first page of ${large.pages}`, `last page of ${large.pages}`]
  await measure(options, 'J1', [
    of(first, largeService, large.key, [pageTarget(1, 100)]),
    of(last, largeService, large.key, [pageTarget(large.pages, 100)]),
    of(named(shallow), smallService, small.key, everywhere(small)),
    of(named(deep), largeService, large.key, everywhere(large)),
  ])
  const aim = (text: string, ours: string, theirs: string, atMost: number): void =>
    options.aim({
      job: 'J1',
      text,
      figure: 'p50Ms',
      wanted: { atMost },
      ours: {
        subject: us,
        what: ours,
      },
      theirs: {
        subject: us,
        what: theirs,
      },
    })
  aim('the last page: time of the first', last, first, 1.1)
  aim(
    `${deep.toLocaleString('en-GB')} events: time of ${shallow.toLocaleString('en-GB')}`,
    named(deep),
    named(shallow),
    1.2,
  )
}

interface Prepared {
  readonly folder: string
  readonly key: string
  readonly pages: number
}

async function prepared(events: number): Promise<Prepared> {
  const { folder, tenantIds } = await filledStore(events, averageBytes)
  const [key = ''] = await keysOf({ kind: 'sqlite', folder }, folder, tenantIds)
  await using service = await startService(folder, { core: '0,1', args })
  await sealAll(service, key, folder, [''], 25)
  return { folder, key, pages: Math.floor(events / 100) }
}

/** Some pages over the whole depth contain exactly the numbers that they must. */
async function checkPages(server: RunningServer, { key, pages }: Prepared): Promise<void> {
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const page = Math.max(1, Math.floor(pages * part))
    const bytes = await getOk(`${server.url}${pageTarget(page, 100)}`, { 'x-api-key': key })
    const { items }: { items: { sequenceNumber: number }[] } = JSON.parse(bytes.toString())
    const right = items.every(({ sequenceNumber }, index) => sequenceNumber === (page - 1) * 100 + index + 1)
    if (items.length !== 100 || !right) throw new Error(`page ${page} is wrong`)
  }
}
