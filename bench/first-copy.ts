/**
 * A first copy into SQLite tables and into a folder, and reading the payloads alone: processor time of a process of its own for each, without
 * the network. A batch has 1,000 listings, as the client gives them. The listings are invented and made beforehand.
 *
 *     node bench/first-copy.ts [listings]
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readPropertyPayload } from '@property-events/client'
import type { Checkpoint, FeedEvent, Upsert } from '@property-events/client'
import { generateProperties } from '@property-events/demo/generate'
import { keepTables, openTables } from '@property-events/tables'
import { keepCopy, openCopy } from '../packages/cli/src/sync/disk-copy.ts'

const perBatch = 1_000
const checkpoint: Checkpoint = {
  format: 'property-events-checkpoint/1',
  feed: 'property',
  apiEventType: null,
  tenantId: null,
  reading: { kind: 'start' },
  sweep: false,
  opens: false,
  applied: {},
  pending: {},
  removals: null,
}

async function keeperOf(way: string, folder: string) {
  const ignored = (): void => undefined
  if (way === 'folder') {
    const target = join(folder, 'copy')
    return keepCopy(target, await openCopy(target, ignored))
  }
  const file = join(folder, 'copy.db')
  const tables = await openTables({ kind: 'sqlite', file }, { prefix: '', schema: undefined })
  const keeper = keepTables({
    tables,
    tenant: 'a',
    category: undefined,
    onReadAgain: ignored,
    onSkipped: ignored,
  })
  await keeper.checkpoint.load()
  return keeper
}

function upsertOf(payload: string, sequenceNumber: number): Upsert<'property'> {
  const { value, quirks } = readPropertyPayload(payload)
  if (value === undefined) throw new Error('not a payload')
  const subjectId = value.agent_ref ?? ''
  const createdDate = new Date(1_700_000_000_000 + sequenceNumber * 1_000).toISOString().slice(0, -1)
  const event: FeedEvent = {
    tenantId: '10000000-0000-4000-8000-000000000000',
    sequenceNumber,
    eventType: 2,
    eventTypeShortCode: 'PropertyPublished',
    payload,
    transactionId: subjectId,
    id: subjectId,
    createdDate,
  }
  return { kind: 'upsert', subjectId, sequenceNumber, payload: value, event, quirks }
}

/** In the process of one copy. The payloads are read here, as the client does before it hands them over. */
async function copy(way: string, folder: string): Promise<void> {
  const payloads = readFileSync(join(folder, 'payloads'), 'utf8').split('\n')
  const keeper = way === 'payloads' ? undefined : await keeperOf(way, folder)
  const before = process.cpuUsage()
  for (let at = 0; at < payloads.length; at += perBatch) {
    const changes = payloads
      .slice(at, at + perBatch)
      .map((payload, index) => upsertOf(payload, at + index + 1))
    await keeper?.apply({ changes, startsOver: at === 0, checkpoint })
  }
  await keeper?.keep(true)
  const { user, system } = process.cpuUsage(before)
  await keeper?.close()
  const seconds = (us: number) => Math.round(us / 1e4) / 100
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1_024)
  console.log(
    JSON.stringify({
      way,
      listings: payloads.length,
      user: seconds(user),
      system: seconds(system),
      megabytes,
    }),
  )
}

function measure(listings: number): void {
  for (const way of ['payloads', 'sqlite', 'folder']) {
    const folder = mkdtempSync(join(tmpdir(), 'property-events-copy-'))
    const payloads = [...generateProperties({ properties: listings, seed: 'copy' })].map((line) =>
      JSON.stringify(JSON.parse(line).payload),
    )
    writeFileSync(join(folder, 'payloads'), payloads.join('\n'))
    const here = fileURLToPath(import.meta.url)
    spawnSync(process.execPath, [...process.execArgv, here, '--copy', way, folder], { stdio: 'inherit' })
    rmSync(folder, { recursive: true })
  }
}

const [first = '20000', way = '', folder = ''] = process.argv.slice(2)
if (first === '--copy') await copy(way, folder)
else measure(Number(first))
