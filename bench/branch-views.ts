/**
 * What it costs to limit a key to branches: how long its views take to be filled, as a service does it in the background, and what those notice
 * who read and publish meanwhile; then what publishing costs with the views. The server (and its database) share a machine with the load.
 * Writes `bench/results/branch-views-<engine>-<events>.json`.
 *
 *     node bench/branch-views.ts [sqlite|postgres] [events] [folder of results]
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beside, post, serve } from './support/contact-feed.ts'
import type { Serving } from './support/contact-feed.ts'
import { startPostgres } from './support/postgres.ts'
import { firstLine } from './support/server.ts'

const here = fileURLToPath(import.meta.url)
const publishPath = '/v1/property-events'
const perRequest = 500
const branches = Array.from({ length: 10 }, (_, n) => `branch ${n}`)
/** Three of ten branches: some 30 % of the events. */
const granted = branches.slice(0, 3)
/** Events per property. */
const eventsEach = 10
const notes = 'Three bedrooms, a garden that looks south, and the river at the end of the lane. '.repeat(5)

/** Serves, and limits a key to branches when a message comes. Answers when its views are ready. */
async function serveAndGrant(kind: string, place: string): Promise<void> {
  const { storage, tenantId } = await serve(kind, place)
  const grant = async (): Promise<void> => {
    const scopes = ['property:read'] as const
    const record = {
      keyId: 'limited',
      secretHash: new Uint8Array(32),
      pepperId: '',
      label: '',
      operator: false,
      grants: [{ tenantId, scopes, branches: granted }],
      createdMs: Date.now(),
      expiresMs: undefined,
      revokedMs: undefined,
      lastUsedMs: undefined,
      rate: undefined,
    }
    await storage.keys.insertKey(record, 'cli:bench')
    while ((await storage.keys.findKey('limited'))?.viewsBeingMade !== undefined) await delay(50)
    const [set] = await storage.branchViews.sets()
    process.send?.(set?.filled)
  }
  process.on('message', () => void grant())
}

function payloadOf(index: number, ref: string) {
  return {
    payload: {
      agent_ref: ref,
      published: true,
      branch_id: branches[index % branches.length],
      notes: `${index} ${notes}`,
    },
  }
}

async function publishAll(serving: Serving, count: number): Promise<void> {
  const refs = Array.from({ length: Math.ceil(count / eventsEach) }, () => randomUUID())
  for (let from = 0; from < count; from += perRequest) {
    const events = Array.from({ length: Math.min(perRequest, count - from) }, (_, nth) => {
      const index = from + nth
      return payloadOf(index % refs.length, refs[index % refs.length] ?? '')
    })
    await post(serving, events, publishPath)
  }
}

async function measure(kind: string, events: number, folder: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'property-events-branches-'))
  await using database = kind === 'postgres' ? await startPostgres() : undefined
  const server = spawn(process.execPath, [here, '--serve', kind, database?.url ?? place], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  try {
    const serving: Serving = JSON.parse(await firstLine(server))
    await publishAll(serving, events)
    let published = 0
    const { done, ...phases } = await beside(
      serving,
      events,
      async () => {
        server.send('grant')
        const [filled] = await once(server, 'message')
        return Number(filled)
      },
      {
        listPath: '/api/func/api/v1/events/getevents',
        publish: () => post(serving, [payloadOf((published += 1), randomUUID())], publishPath),
      },
    )
    const machine = { cores: cpus().length, processor: cpus()[0]?.model ?? '', node: process.version }
    const result = {
      measuredAt: new Date().toISOString(),
      engine: kind,
      machine,
      events,
      filled: done,
      ...phases,
    }
    console.log(JSON.stringify(result))
    writeFileSync(
      join(folder, `branch-views-${kind}-${events}.json`),
      `${JSON.stringify(result, undefined, 2)}\n`,
    )
  } finally {
    server.kill()
    rmSync(place, { recursive: true, force: true })
  }
}

const [first = 'sqlite', second = '100000', third = join(import.meta.dirname, 'results')] =
  process.argv.slice(2)
if (first === '--serve') await serveAndGrant(second, third)
else await measure(first, Number(second), third)
