/**
 * The usual way, as a program: Fastify, `pg`, rows from PostgreSQL, `JSON.stringify`; `node usual-server.ts <database>`.
 *
 * - `GET /events?page=&pageSize=`: `count(*)`, then `LIMIT … OFFSET`.
 * - `GET /events?after=&pageSize=`: the rows behind an id, no count.
 * - `POST /events`: one event or an array, one `INSERT` each, one transaction a request.
 */
import { createHash } from 'node:crypto'
import fastify from 'fastify'
import type { FastifyRequest } from 'fastify'
import { Pool } from 'pg'

const pool = new Pool({ connectionString: process.argv[2], max: 10 })
const app = fastify({ bodyLimit: 2 ** 24 })

interface Row {
  readonly id: string
  readonly tenant: string
  readonly type: number
  readonly code: string
  readonly payload: string
  readonly transaction_id: string
  readonly event_id: string
  readonly created: Date
}

interface Body {
  readonly payload: { readonly agent_ref: string }
}

const columns = 'id, tenant, type, code, payload, transaction_id, event_id, created'

function eventOf(row: Row) {
  return {
    tenantId: row.tenant,
    sequenceNumber: Number(row.id),
    eventType: row.type,
    eventTypeShortCode: row.code,
    payload: row.payload,
    transactionId: row.transaction_id,
    id: row.event_id,
    createdDate: row.created.toISOString(),
  }
}

async function tenantOf(request: FastifyRequest): Promise<string | undefined> {
  const key = createHash('sha256').update(String(request.headers['x-api-key'])).digest('hex')
  const { rows } = await pool.query<{ tenant: string }>({
    name: 'key',
    text: 'SELECT tenant FROM api_key WHERE hash = $1',
    values: [key],
  })
  return rows[0]?.tenant
}

app.get('/events', async (request, reply) => {
  const tenant = await tenantOf(request)
  if (tenant === undefined) return reply.code(401).send()
  const query: { page?: string; after?: string; pageSize?: string } = Object(request.query)
  const pageSize = Number(query.pageSize ?? 100)
  reply.type('application/json')
  if (query.after !== undefined) {
    const { rows } = await pool.query<Row>({
      name: 'keyed',
      text: `SELECT ${columns} FROM usual_event WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3`,
      values: [tenant, query.after, pageSize],
    })
    return JSON.stringify({ items: rows.map(eventOf), pageSize })
  }
  const page = Number(query.page ?? 1)
  const counted = await pool.query<{ count: string }>({
    name: 'count',
    text: 'SELECT count(*) FROM usual_event WHERE tenant = $1',
    values: [tenant],
  })
  const { rows } = await pool.query<Row>({
    name: 'offset',
    text: `SELECT ${columns} FROM usual_event WHERE tenant = $1 ORDER BY id LIMIT $2 OFFSET $3`,
    values: [tenant, pageSize, (page - 1) * pageSize],
  })
  const availableCount = Number(counted.rows[0]?.count)
  const totalPages = Math.ceil(availableCount / pageSize)
  return JSON.stringify({ items: rows.map(eventOf), page, pageSize, availableCount, totalPages })
})

app.post<{ Body: Body | readonly Body[] }>('/events', async (request, reply) => {
  const tenant = await tenantOf(request)
  if (tenant === undefined) return reply.code(401).send()
  const bodies = [request.body].flat()
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const ids: string[] = []
    for (const { payload } of bodies) {
      const { rows } = await client.query<{ id: string }>({
        name: 'insert',
        text: `INSERT INTO usual_event (tenant, type, code, payload, transaction_id, event_id, created)
          VALUES ($1, 0, 'PropertyUpdated', $2, $3, gen_random_uuid(), now()) RETURNING id`,
        values: [tenant, JSON.stringify(payload), payload.agent_ref],
      })
      ids.push(rows[0]?.id ?? '')
    }
    await client.query('COMMIT')
    return await reply.code(201).send({ ids })
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
})

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
