/**
 * A small website that tells the agency what became of each of its properties: a table in SQLite kept in step with a feed, a page for
 * each property, and a verdict on each version: live, with the address of the page, held back, or refused, and why.
 *
 * Table, checkpoint and verdicts that are still to be told change in one transaction, so that no verdict is lost, wherever the program or
 * the machine stops. One that is told twice does no harm.
 *
 * Needs Node 24 or later, "type": "module" in package.json, and @property-events/client.
 *
 *     PROPERTY_EVENTS_URL=https://feed.example.com PROPERTY_EVENTS_KEY=pev_… node reporting-website.ts website.db
 *
 * SITE_URL is the address at which visitors find it, PORT the one it listens on. PROPERTY_EVENTS_CONSUMER names it where several programs share
 * the key.
 */
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { createClient } from '@property-events/client'
import type { Batch, Change, ConsumerResult } from '@property-events/client'
import { listing } from '@property-events/client/listing'

process.on('uncaughtException', (error) => {
  // A sentence for whoever runs it. What has no code is a fault of this program, and keeps its stack.
  console.error('code' in error ? error.message : error)
  process.exit(1)
})

const {
  PROPERTY_EVENTS_URL = 'http://127.0.0.1:8080',
  PROPERTY_EVENTS_KEY = '',
  PROPERTY_EVENTS_CONSUMER,
  PORT = '8090',
} = process.env
if (PROPERTY_EVENTS_KEY === '') {
  console.error('No API key is given: set PROPERTY_EVENTS_KEY.')
  process.exit(1)
}
const siteUrl = process.env['SITE_URL'] ?? `http://127.0.0.1:${PORT}`
const database = new DatabaseSync(process.argv[2] ?? 'website.db', { timeout: 5_000 })
database.exec(`
  PRAGMA journal_mode = WAL;
  -- What is removed is overwritten: it may have been erased for good.
  PRAGMA secure_delete = ON;
  CREATE TABLE IF NOT EXISTS home (agent_ref TEXT PRIMARY KEY, html TEXT) STRICT; -- NULL: not shown, and its verdict says why
  CREATE TABLE IF NOT EXISTS gone (agent_ref TEXT PRIMARY KEY) STRICT;
  CREATE TABLE IF NOT EXISTS verdict (agent_ref TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT; -- still to be told
  CREATE TABLE IF NOT EXISTS feed_checkpoint (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), json TEXT NOT NULL) STRICT;
`)

const put = database.prepare('INSERT OR REPLACE INTO home VALUES (?, ?)')
const remove = database.prepare('DELETE FROM home WHERE agent_ref = ?')
const noteGone = database.prepare('INSERT OR IGNORE INTO gone VALUES (?)')
const noteBack = database.prepare('DELETE FROM gone WHERE agent_ref = ?')
const noteVerdict = database.prepare('INSERT OR REPLACE INTO verdict VALUES (?, ?)')
const someVerdicts = database.prepare('SELECT agent_ref, json FROM verdict LIMIT 1000')
// A newer one that was noted meanwhile stays.
const verdictTold = database.prepare('DELETE FROM verdict WHERE agent_ref = ? AND json = ?')
const saveCheckpoint = database.prepare('INSERT OR REPLACE INTO feed_checkpoint VALUES (1, ?)')
const loadCheckpoint = database.prepare('SELECT json FROM feed_checkpoint')
const countAll = database.prepare('SELECT count(*) AS count FROM home')
const countThese = database.prepare(
  'SELECT count(*) AS count FROM home WHERE agent_ref IN (SELECT value FROM json_each(?))',
)
const everyHome = database.prepare('SELECT agent_ref FROM home')
const pageOf = database.prepare('SELECT html FROM home WHERE agent_ref = ?')
const isGone = database.prepare('SELECT 1 FROM gone WHERE agent_ref = ?')

type Shown = Pick<ConsumerResult, 'outcome' | 'code' | 'message' | 'url'> & { readonly html: string | null }

/** This website's own rules: an address and a price, and a photograph before anybody sees it. */
function judge({ subjectId, payload }: Extract<Change<'property'>, { kind: 'upsert' }>): Shown {
  const home = listing(payload)
  const [photograph] = home.photographs
  if (home.address.display === null) return { html: null, outcome: 'refused', code: 'no_address' }
  if (home.price.text === null) return { html: null, outcome: 'refused', code: 'no_price' }
  if (photograph === undefined) {
    return { html: null, outcome: 'held', code: 'no_photograph', message: 'Shown once it has a photograph.' }
  }
  const title = escaped(home.address.display)
  // The description is safe as it stands: nine elements without attributes.
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>
<p>${escaped(home.price.text)}</p><img alt="" src="${escaped(photograph.url)}">${home.description.html}</html>`
  return { html, outcome: 'live', url: `${siteUrl}/homes/${encodeURIComponent(subjectId)}` }
}

function applyChange(change: Change<'property'>): void {
  const { subjectId: agentRef, sequenceNumber } = change
  if (change.kind === 'remove') {
    remove.run(agentRef)
    noteGone.run(agentRef)
    // A removal of 0 was found by comparing copy and feed, and is of no event.
    const taken: ConsumerResult = { agentRef, sequenceNumber, outcome: 'live' }
    if (sequenceNumber > 0) noteVerdict.run(agentRef, JSON.stringify(taken))
    return
  }
  const { html, ...verdict } = judge(change)
  put.run(agentRef, html)
  noteBack.run(agentRef)
  noteVerdict.run(agentRef, JSON.stringify({ agentRef, sequenceNumber, ...verdict }))
}

function apply({ changes, checkpoint }: Batch<'property'>): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    for (const change of changes) applyChange(change)
    saveCheckpoint.run(JSON.stringify(checkpoint))
    database.exec('COMMIT')
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}

const consumer = PROPERTY_EVENTS_CONSUMER === undefined ? {} : { consumer: PROPERTY_EVENTS_CONSUMER }
const client = createClient({ baseUrl: PROPERTY_EVENTS_URL, key: PROPERTY_EVENTS_KEY, ...consumer })

/** Pages are served from the table, so what was committed is live. What cannot be told now is told after the next round. */
async function tellVerdicts(): Promise<void> {
  try {
    for (;;) {
      const rows = someVerdicts.all()
      if (rows.length === 0) return
      await client.report(rows.map(({ json }) => JSON.parse(String(json)) as ConsumerResult))
      for (const { agent_ref, json } of rows) verdictTold.run(String(agent_ref), String(json))
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

const server = createServer((request, response) => {
  const [, agentRef = ''] = /^\/homes\/([^/?]+)/.exec(request.url ?? '') ?? []
  const html = pageOf.get(agentRef)?.['html']
  const status = typeof html === 'string' ? 200 : isGone.get(agentRef) === undefined ? 404 : 410
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
  response.end(typeof html === 'string' ? html : '<!doctype html><title>Not here</title><h1>Not here</h1>')
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`The website is at ${siteUrl}`))

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
const numberOf = (row: Record<string, unknown> | undefined): number => Number(row?.['count'] ?? 0)

await client.sync({
  // No `save`: `apply` keeps the checkpoint, in its transaction.
  checkpoint: { load: () => JSON.parse(String(loadCheckpoint.get()?.['json'] ?? 'null')) },
  apply,
  copy: {
    count: () => numberOf(countAll.get()),
    countOf: (subjectIds) => numberOf(countThese.get(JSON.stringify(subjectIds))),
    *subjects() {
      for (const row of everyHome.all()) yield String(row['agent_ref'])
    },
  },
  follow: true,
  onCaughtUp: tellVerdicts,
  onTrouble: (error) => console.error(error instanceof Error ? error.message : error),
  signal: stopping.signal,
})
server.close()
database.close()
