/**
 * What retention costs those who read and publish beside it: superseded events of one contact lose their payloads, in the steps and with the
 * rests that a node takes. The server (and its database) share a machine with the load. Writes `bench/results/thinning-<engine>-<events>.json`.
 *
 *     node bench/thinning.ts [sqlite|postgres] [events] [folder of results]
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { thinFeed } from '../packages/server/src/privacy/retention/worker.ts'
import { beside, publishAll, serve } from './support/contact-feed.ts'
import type { Serving } from './support/contact-feed.ts'
import { startPostgres } from './support/postgres.ts'
import { firstLine } from './support/server.ts'

const here = fileURLToPath(import.meta.url)
const pausePerStep = 3

/** Serves, and thins everything superseded as soon as a message comes, because no rule reaches what was published today. */
async function serveAndThin(kind: string, place: string): Promise<void> {
  const { storage, tenantId } = await serve(kind, place)
  const thin = async (): Promise<void> => {
    const later = BigInt(Date.now() + 86_400_000) * 10_000n
    const span = { key: { tenantId, feed: 'contact' }, before: later, supersededBefore: later } as const
    const { signal } = new AbortController()
    const parts = { retention: storage.retention, span, nodeId: 'bench', signal, pausePerStep }
    const { events } = await thinFeed(parts)
    process.send?.(events)
  }
  process.on('message', () => void thin())
}

async function measure(kind: string, events: number, folder: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'property-events-thinning-'))
  await using database = kind === 'postgres' ? await startPostgres() : undefined
  const server = spawn(process.execPath, [here, '--serve', kind, database?.url ?? place], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  try {
    const serving: Serving = JSON.parse(await firstLine(server))
    const superseded = randomUUID()
    await publishAll(serving, events + 1, () => superseded)
    const { done, ...phases } = await beside(serving, events, async () => {
      server.send('thin')
      const [thinned] = await once(server, 'message')
      return Number(thinned)
    })
    const machine = { cores: cpus().length, processor: cpus()[0]?.model ?? '', node: process.version }
    const result = { measuredAt: new Date().toISOString(), engine: kind, machine, thinned: done, ...phases }
    console.log(JSON.stringify(result))
    writeFileSync(
      join(folder, `thinning-${kind}-${events}.json`),
      `${JSON.stringify(result, undefined, 2)}\n`,
    )
  } finally {
    server.kill()
    rmSync(place, { recursive: true, force: true })
  }
}

const [first = 'sqlite', second = '100000', third = join(import.meta.dirname, 'results')] =
  process.argv.slice(2)
if (first === '--serve') await serveAndThin(second, third)
else await measure(first, Number(second), third)
