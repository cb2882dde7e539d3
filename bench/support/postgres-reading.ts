/** A database with the events of a reading set, and a folder for the nodes that read it. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchOptions } from '../jobs/context.ts'
import { checkAnswers, sealAll } from './reading-set.ts'
import type { ReadingSet } from './reading-set.ts'
import type { RunningPostgres } from './postgres.ts'
import { startService } from './service.ts'
import type { RunningService } from './service.ts'
import { benchFeed, emptyStore, fillStorage, keysOf } from './store.ts'

export interface PostgresReading {
  /** For the nodes: pepper and sealed pages. */
  readonly folder: string
  readonly key: string
  /** The arguments that make a node use this database. */
  readonly args: readonly string[]
  /** A node; its processor time includes that of PostgreSQL. */
  readonly start: (args?: readonly string[]) => Promise<RunningService>
}

/** Fills an empty database. A node has read all of these views, so that their pages are ready-made; with none, nothing is. */
export async function postgresReading(
  options: BenchOptions,
  postgres: RunningPostgres,
  set: ReadingSet,
  views: readonly string[],
): Promise<PostgresReading> {
  const place = { kind: 'postgres', url: postgres.url } as const
  const folder = join(options.folder, `postgres-node-${set.events}-${views.length}`)
  mkdirSync(folder, { recursive: true })
  {
    await using storage = await emptyStore(place, 1)
    await fillStorage(storage, set.events, options.averageBytes)
  }
  const [key = ''] = await keysOf(place, folder, [benchFeed.tenantId])
  const args = ['--database', postgres.url]
  const start = async (more: readonly string[] = []): Promise<RunningService> => {
    const service = await startService(folder, { args: [...args, ...more] })
    return { ...service, cpuS: () => service.cpuS() + postgres.cpuS() }
  }
  await using service = await start(views.length === 0 ? ['--page-file-bytes', '0'] : [])
  if (views.length > 0) await sealAll(service, key, folder, views)
  await checkAnswers(service, { ...set, key })
  return { folder, key, args, start }
}
