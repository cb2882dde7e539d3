/** Stores filled by the generator, made once and kept in `bench/.cache`. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPublisher } from '../../packages/server/src/feed/publish.ts'
import { openStorage } from '../../packages/server/src/storage/open-storage.ts'
import type { StorageEngine } from '../../packages/server/src/storage/storage.ts'
import { issueKey, loadPepper } from '../../packages/server/src/keys/index.ts'
import { generate } from '../../packages/cli/src/market/generate.ts'
import { catalogues, scopes } from '@property-events/protocol'

export const cacheFolder = join(import.meta.dirname, '../.cache')

export interface FilledStore {
  readonly folder: string
  readonly events: number
  readonly tenantIds: readonly string[]
}

export function tenantIdOf(index: number): string {
  return `10000000-0000-4000-8000-${String(index).padStart(12, '0')}`
}

/** One tenant with `events` property events of `averageBytes` each. */
export async function filledStore(events: number, averageBytes: number): Promise<FilledStore> {
  const folder = join(cacheFolder, `sqlite-${events}-${averageBytes}`)
  const complete = join(folder, 'complete')
  if (!existsSync(complete)) {
    rmSync(folder, { recursive: true, force: true })
    await using storage = await emptyStore(folder, 1)
    await fill(storage, events, averageBytes)
    writeFileSync(complete, '')
  }
  return { folder, events, tenantIds: [tenantIdOf(0)] }
}

/** A new store with tenants and no events. */
export async function emptyStore(folder: string, tenants: number): Promise<StorageEngine> {
  mkdirSync(folder, { recursive: true })
  const storage = await openStorage({
    kind: 'sqlite',
    folder,
    create: true,
    catalogue: catalogues.default,
    startSequence: 0,
  })
  for (let index = 0; index < tenants; index += 1) {
    await storage.keys.createTenant({
      tenantId: tenantIdOf(index),
      name: `Agency ${index}`,
      createdMs: Date.now(),
      suspended: false,
    })
  }
  return storage
}

async function fill(storage: StorageEngine, events: number, averageBytes: number): Promise<void> {
  const publisher = createPublisher({ events: storage.events, catalogue: storage.settings.catalogue })
  const key = { tenantId: tenantIdOf(0), feed: 'property' as const }
  let lines: string[] = []
  let written = 0
  let previous: Promise<void> = Promise.resolve()
  const send = async (text: string): Promise<void> => {
    const outcome = await publisher.publish({
      key,
      text,
      format: 'ndjson',
      dryRun: false,
      unchanged: 'store',
    })
    if (outcome.kind !== 'receipt') throw new Error(JSON.stringify(outcome).slice(0, 500))
  }
  for (const line of generate({ events, seed: 'bench', averageBytes })) {
    lines.push(line)
    written += 1
    if (lines.length < 1_000 && written < events) continue
    await previous
    previous = send(lines.join('\n'))
    lines = []
    if (written % 50_000 === 0) process.stderr.write(`  ${written} of ${events} events\n`)
  }
  await previous
}

/** A key for each tenant that may read and publish everything of it. */
export async function keysOf(folder: string, tenantIds: readonly string[]): Promise<readonly string[]> {
  await using storage = await openStorage({ kind: 'sqlite', folder, create: false })
  const pepper = loadPepper({ folder, given: undefined })
  const texts: string[] = []
  for (const tenantId of tenantIds) {
    const issued = await issueKey(storage.keys, pepper, {
      label: 'bench',
      operator: false,
      grants: [{ tenantId, scopes: [...scopes] }],
      expiresMs: undefined,
      nowMs: Date.now(),
    })
    if (issued.kind === 'issued') texts.push(issued.text)
  }
  return texts
}
