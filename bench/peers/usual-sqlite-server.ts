/**
 * The usual way to publish on SQLite, as a program: Fastify, better-sqlite3 on the thread that serves, `synchronous=FULL`;
 * `node usual-sqlite-server.ts <new file> <key>`. `POST /events`: one event or an array, one `INSERT` each, one transaction a
 * request. Nothing is checked but the key; `GET /events/<id>` answers one event.
 */
import { createHash, randomUUID } from 'node:crypto'
import Database from 'better-sqlite3'
import fastify from 'fastify'
import type { FastifyRequest } from 'fastify'

interface Body {
  readonly payload: { readonly agent_ref: string }
}

const [file = '', key = ''] = process.argv.slice(2)
const database = new Database(file)
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
database.exec(`
  CREATE TABLE usual_event (
    id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, type INTEGER NOT NULL, code TEXT NOT NULL, payload TEXT NOT NULL,
    transaction_id TEXT NOT NULL, event_id TEXT NOT NULL UNIQUE, created TEXT NOT NULL);
  CREATE INDEX usual_event_of_tenant ON usual_event (tenant, id);
  CREATE TABLE api_key (hash TEXT PRIMARY KEY, tenant TEXT NOT NULL)`)
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
database.prepare('INSERT INTO api_key VALUES (?, ?)').run(hashOf(key), randomUUID())

const tenant = database.prepare<[string], string>('SELECT tenant FROM api_key WHERE hash = ?').pluck()
const insert = database.prepare<[string, string, string, string, string]>(
  `INSERT INTO usual_event (tenant, type, code, payload, transaction_id, event_id, created)
    VALUES (?, 0, 'PropertyUpdated', ?, ?, ?, ?)`,
)
const select = database.prepare<[string, string], object>(
  'SELECT * FROM usual_event WHERE tenant = ? AND event_id = ?',
)
const tenantOf = ({ headers }: FastifyRequest) => tenant.get(hashOf(String(headers['x-api-key'])))

const publish = database.transaction((owner: string, bodies: readonly Body[]) =>
  bodies.map(({ payload }) => {
    const id = randomUUID()
    insert.run(owner, JSON.stringify(payload), payload.agent_ref, id, new Date().toISOString())
    return id
  }),
)

const app = fastify({ bodyLimit: 2 ** 24 })

app.post<{ Body: Body | readonly Body[] }>('/events', (request, reply) => {
  const owner = tenantOf(request)
  if (owner === undefined) return reply.code(401).send()
  return reply.code(201).send({ ids: publish(owner, [request.body].flat()) })
})

app.get<{ Params: { id: string } }>('/events/:id', (request, reply) => {
  const owner = tenantOf(request)
  if (owner === undefined) return reply.code(401).send()
  const row = select.get(owner, request.params.id)
  return row === undefined ? reply.code(404).send() : reply.send(row)
})

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
