/** J4: durable publishing, single events and batches of 100, one client and many, one feed and many. */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from '../../packages/cli/src/market/generate.ts'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { startService } from '../support/service.ts'
import { emptyStore, keysOf, tenantIdOf } from '../support/store.ts'
import { listFile } from '../support/wrk.ts'
import type { BenchOptions } from './context.ts'

const feeds = 50

export async function benchPublishing(options: BenchOptions): Promise<void> {
  const folder = mkdtempSync(join(options.folder, 'publish-'))
  await (await emptyStore(folder, feeds)).close()
  const tenants = Array.from({ length: feeds }, (_, index) => tenantIdOf(index))
  const keys = await keysOf(folder, tenants)
  const events = [...generate({ events: 5_000, seed: 'publish', averageBytes: options.averageBytes })].filter(
    (line) => line.startsWith('{"payload"'),
  )
  const batches = Array.from(
    { length: Math.floor(events.length / 100) },
    (_, index) => `[${events.slice(index * 100, index * 100 + 100).join(',')}]`,
  )
  await using service = await startService(folder, { args: ['--page-file-bytes', '0'] })
  const publishing = (
    what: string,
    bodies: readonly string[],
    connections: number,
    feedCount: number,
  ): Case => ({
    subject: 'property-events',
    what,
    load: {
      url: service.url,
      script: 'post.lua',
      pid: service.pid,
      connections,
      env: {
        TARGETS: listFile(
          options.folder,
          `publish-targets-${feedCount}`,
          Array.from({ length: feedCount }, () => '/v1/property-events'),
        ),
        KEYS: listFile(options.folder, `publish-keys-${feedCount}`, keys.slice(0, feedCount)),
        BODIES: listFile(options.folder, `publish-bodies-${bodies.length}`, bodies),
      },
    },
  })
  await measure(options, 'J4', [
    publishing('1 event, 1 client', events, 1, 1),
    publishing('1 event, 20 clients, 1 feed', events, 20, 1),
    publishing('1 event, 50 clients, 50 feeds', events, 50, feeds),
    publishing('100 events, 1 client', batches, 1, 1),
    publishing('100 events, 20 clients, 1 feed', batches, 20, 1),
  ])
  rmSync(folder, { recursive: true, force: true })
}
