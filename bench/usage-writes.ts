/**
 * What counting requests writes, or with `readings` what noting them for "who has seen what" does: a node with so many active keys adds its counts every half minute. Measured are an hour's first addition, later ones,
 * and one right after a checkpoint of the database (every five minutes, by its default); an hour is computed of 120 of them. On SQLite
 * these are the bytes that the process gave to the system, the checkpoints into its file included; on PostgreSQL those of the write-ahead log.
 * Of readings each key reads another page of the feed between two additions, as one that has not caught up does, and a poll is the same
 * row without a minute of its own. Writes `bench/results/<usage|reading>-writes-<engine>-<keys>.json`.
 *
 *     node bench/usage-writes.ts [sqlite|postgres] [keys] [folder of results] [usage|readings]
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { catalogues } from '../packages/protocol/src/index.ts'
import { createReadCounts } from '../packages/server/src/consumers/read-counts.ts'
import { countUsage } from '../packages/server/src/usage/usage-counter.ts'
import { openStorage } from '../packages/server/src/index.ts'
import type { StorageEngine } from '../packages/server/src/index.ts'
import { startPostgres } from './support/postgres.ts'

const additionsPerHour = 120
const checkpointsPerHour = 12
const hourMs = 3_600_000

/** How many bytes have been written so far. */
type Written = () => Promise<number>

interface Counting {
  /** The activity of one key between two additions. */
  note(keyId: string): void
  flush(): Promise<void>
}

function counting(what: string, storage: StorageEngine, clock: () => number): Counting {
  const rest = async (): Promise<void> => undefined
  if (what === 'usage') {
    const counts = countUsage(storage.usage, clock)
    return {
      note(keyId) {
        counts.count(keyId, 'listPropertyEvents', 200, 40_000)
        counts.count(keyId, 'listPropertyEvents', 304, 0)
      },
      flush: () => counts.flush(rest),
    }
  }
  const readings = createReadCounts(storage.consumers, { clock, resultDays: 730 })
  const key = { tenantId: '7f1f3a34-7f0c-4f6e-9d58-1c2f0b6a2d11', feed: 'property' } as const
  const part = { key, view: 'all', space: 'ordinals', epoch: 'e1', route: 'list', isQuiet: false } as const
  let page = 0
  return {
    note: (keyId) =>
      readings.note(keyId, 'default', { ...part, ranges: [[page * 100 + 1, page * 100 + 100]] }, 200),
    async flush() {
      page += 1
      await readings.flush(rest)
    },
  }
}

async function measure(kind: string, keys: number, folder: string, what: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'property-events-usage-'))
  await using database = kind === 'postgres' ? await startPostgres() : undefined
  const given = { create: true, catalogue: catalogues.default } as const
  const storage = await (database === undefined
    ? openStorage({ kind: 'sqlite', folder: place, ...given })
    : openStorage({ kind: 'postgres', url: database.url, ...given }))
  const client = database === undefined ? undefined : new Client({ connectionString: database.url })
  await client?.connect()
  const written: Written =
    client === undefined ? async () => bytesOfProcess() : async () => bytesOfLog(client)
  try {
    let nowMs = 480_000 * hourMs
    const counts = counting(what, storage, () => nowMs)
    const add = async () => {
      for (let key = 0; key < keys; key += 1) {
        // In the form of keys: random letters and digits.
        const keyId = `${(key * 7919 + 104_729).toString(36).padStart(6, '0')}ABCDEF`
        counts.note(keyId)
      }
      const [before, beganMs] = [await written(), performance.now()]
      await counts.flush()
      const ms = Math.round(performance.now() - beganMs)
      return { bytes: (await written()) - before, ms }
    }
    await add()
    nowMs += hourMs
    const first = await add()
    const later = []
    for (let addition = 0; addition < 4; addition += 1) {
      // Half of the additions begin another minute.
      nowMs += 30_000
      later.push(await add())
    }
    await client?.query('CHECKPOINT')
    const afterCheckpoint = client === undefined ? undefined : await add()
    const mean = later.reduce((sum, { bytes }) => sum + bytes, 0) / later.length
    const perHour =
      first.bytes +
      (afterCheckpoint === undefined
        ? (additionsPerHour - 1) * mean
        : checkpointsPerHour * afterCheckpoint.bytes + (additionsPerHour - 1 - checkpointsPerHour) * mean)
    const machine = { cores: cpus().length, processor: cpus()[0]?.model ?? '', node: process.version }
    const result = {
      measuredAt: new Date().toISOString(),
      engine: kind,
      machine,
      keys,
      ...(what === 'usage' ? { countsPerKey: 2 } : {}),
      first,
      later,
      afterCheckpoint: afterCheckpoint ?? null,
      megabytesPerHour: Math.round(perHour / 1e6),
    }
    console.log(JSON.stringify(result))
    writeFileSync(
      join(folder, `${what === 'usage' ? 'usage' : 'reading'}-writes-${kind}-${keys}.json`),
      `${JSON.stringify(result, undefined, 2)}\n`,
    )
  } finally {
    await client?.end()
    await storage.close()
    rmSync(place, { recursive: true, force: true })
  }
}

/** On Linux. */
function bytesOfProcess(): number {
  return Number(/^wchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1] ?? Number.NaN)
}

async function bytesOfLog(client: Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS bytes`,
  )
  return Number(rows[0]?.bytes)
}

const [kind = 'sqlite', keys = '20000', folder = join(import.meta.dirname, 'results'), what = 'usage'] =
  process.argv.slice(2)
await measure(kind, Number(keys), folder, what)
