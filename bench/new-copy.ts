/**
 * A new site, correct from a long feed: by snapshot and numbers, and by pages alone. Time, requests, bytes on the wire and
 * memory of the reader, each in a process of its own.
 *
 *     node bench/new-copy.ts [events] [subjects]
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient, memoryCheckpoint } from '@property-events/client'
import { catalogues } from '@property-events/protocol'
import { createLogger, createService, issueKey, loadPeppers, openStorage } from '@property-events/server'
import Database from 'better-sqlite3'
import { eventChecksum } from '../packages/server/src/events/sqlite/event-checksum.ts'

const here = fileURLToPath(import.meta.url)
const tenantId = '10000000-0000-4000-8000-000000000000'

/** The reader: counts requests and reports what it took. `pages`: the service's own reads are hidden from it. */
async function copy(baseUrl: string, key: string, way: string): Promise<void> {
  let requests = 0
  const counted: typeof fetch = (input, init) => {
    requests += 1
    const url = new URL(input instanceof Request ? input.url : input)
    const hidden = way === 'pages' && url.pathname.startsWith('/v1/')
    return hidden ? Promise.resolve(new Response('', { status: 404 })) : fetch(input, init)
  }
  const held = new Set<string>()
  const startMs = performance.now()
  await createClient({ baseUrl, key, fetch: counted }).sync({
    checkpoint: memoryCheckpoint(),
    ...(way === 'pages' ? { pageSize: 1_000 } : {}),
    apply: ({ changes }) => {
      for (const { kind, subjectId } of changes) {
        if (kind === 'remove') held.delete(subjectId)
        else held.add(subjectId)
      }
    },
  })
  const seconds = (performance.now() - startMs) / 1_000
  const maxMegabytes = Math.round(process.resourceUsage().maxRSS / 1_024)
  console.log(JSON.stringify({ way, seconds, requests, held: held.size, maxMegabytes }))
}

/** Events written by one statement a table: payloads of about 1.2 kB, each subject changed again and again. */
async function fill(folder: string, events: number, subjects: number): Promise<void> {
  const store = await openStorage({ kind: 'sqlite', folder, create: true, catalogue: catalogues.default })
  await store.tenants.createTenant({ tenantId, name: 'Agency', createdMs: 0, suspended: false }, 'cli:bench')
  await store.close()
  const database = new Database(join(folder, 'property-events.db'))
  database.pragma('synchronous = OFF')
  database.function('checksum_of', (position: number, json: Buffer) => eventChecksum(position, json))
  const text = JSON.stringify('A house by the river with a garden. '.repeat(20)).slice(1, -1)
  const ref = `printf('20000000-0000-4000-8000-%012x', i % ${subjects})`
  const subject = `unhex('20000000000040008000' || printf('%012x', i % ${subjects}))`
  const payload = `'{\\"agent_ref\\":\\"' || ${ref} || '\\",\\"published\\":true,\\"price_information\\":{\\"price\\":' || i || '},\\"details\\":{\\"summary\\":\\"' || hex(randomblob(150)) || '\\",\\"description\\":\\"${text}\\"}}'`
  const created = `strftime('%Y-%m-%dT%H:%M:%S', 1700000000 + i, 'unixepoch') || '.0000000'`
  database.exec(`BEGIN;
    CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${events}) SELECT i FROM n;
    CREATE TEMP TABLE f AS SELECT feed_no FROM feed WHERE feed = 'property';
    INSERT INTO event (place, feed_no, created, sequence, id, subject, category, branch, code, state, checksum, json) SELECT (feed_no << 40) | i, feed_no, (1700000000 + i) * 10000000, i,
      unhex('30000000000040008000' || printf('%012x', i)), ${subject}, 'sales', NULL, 'PropertyUpdated', 'full', 0,
      CAST('{"tenantId":"${tenantId}","sequenceNumber":' || i || ',"eventType":0,"eventTypeShortCode":"PropertyUpdated","payload":"'
        || ${payload} || '","transactionId":"' || ${ref} || '","id":"' || printf('30000000-0000-4000-8000-%012x', i)
        || '","createdDate":"' || ${created} || '"}' AS BLOB) FROM n, f;
    UPDATE event SET checksum = checksum_of(place & 0xffffffffff, json);
    INSERT INTO subject SELECT feed_no, ${subject}, max(i), 1, 'sales', NULL, 'PropertyUpdated', NULL, '', NULL, NULL FROM n, f
      GROUP BY i % ${subjects};
    UPDATE feed SET last_position = ${events}, last_created = (1700000000 + ${events}) * 10000000 WHERE feed = 'property';
    COMMIT`)
  database.close()
}

async function measure(events: number, subjects: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-copy-'))
  await fill(folder, events, subjects)
  const storage = await openStorage({ kind: 'sqlite', folder, create: false, catalogue: catalogues.default })
  const [pepper] = loadPeppers({ folder: undefined, given: undefined })
  const service = await createService({
    storage,
    peppers: [pepper],
    log: createLogger({ level: 'silent' }),
    host: '127.0.0.1',
    port: 0,
    metrics: undefined,
  })
  const issued = await issueKey(storage.keys, pepper, {
    label: 'bench',
    operator: false,
    grants: [{ tenantId, scopes: ['property:read'] }],
    expiresMs: undefined,
    nowMs: Date.now(),
    actor: 'cli:bench',
  })
  if (issued.kind !== 'issued') throw new Error(issued.kind)

  let bytes = 0
  const counter = createServer((client) => {
    const server = connect(Number(new URL(service.url).port), '127.0.0.1')
    server.on('data', (chunk) => (bytes += chunk.length))
    client.pipe(server).pipe(client)
    for (const socket of [client, server]) socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => counter.listen(0, '127.0.0.1', resolve))
  const { port } = counter.address() as AddressInfo
  for (const way of ['snapshot', 'pages']) {
    bytes = 0
    const reader = spawn(process.execPath, [here, '--copy', `http://127.0.0.1:${port}`, issued.text, way], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    await new Promise((resolve) => reader.on('exit', resolve))
    console.log(JSON.stringify({ way, megabytesOnTheWire: Math.round(bytes / 1e5) / 10 }))
  }
  counter.close()
  await service.close()
  await storage.close()
  rmSync(folder, { recursive: true })
}

const [first = '1000000', second = '20000', key = '', way = ''] = process.argv.slice(2)
if (first === '--copy') await copy(second, key, way)
else await measure(Number(first), Number(second))
