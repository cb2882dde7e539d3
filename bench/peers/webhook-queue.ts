/**
 * The usual way to send webhooks, as a program: a table of jobs on PostgreSQL, one row a message. Each worker takes a row with
 * `FOR UPDATE SKIP LOCKED`, signs, posts with `fetch`, and deletes the row. Prints a line once its rows are there, and ends with them.
 * `node webhook-queue.ts <database> <receiver> <endpoints> <rows> <workers> <file of events, one a line>`
 */
import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Client } from 'pg'

interface Job {
  readonly id: string
  readonly endpoint: number
  readonly body: string
}

const [database = '', receiver = '', endpoints = '1', rows = '1', workers = '1', eventFile = ''] =
  process.argv.slice(2)
const secrets = Array.from({ length: Number(endpoints) }, () => randomBytes(32))

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: database })
  await client.connect()
  return client
}

async function fill(): Promise<void> {
  const client = await connected()
  await client.query('DROP TABLE IF EXISTS job')
  await client.query(
    'CREATE TABLE job (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, endpoint integer NOT NULL, body text NOT NULL)',
  )
  const events = readFileSync(eventFile, 'utf8').trimEnd().split('\n')
  await client.query(
    `INSERT INTO job (endpoint, body) SELECT n % $1, '{"type":"property.event","data":{"event":' || event || '}}'
      FROM generate_series(1, $2::integer) AS n
      JOIN unnest($3::text[]) WITH ORDINALITY AS e (event, nth) ON nth = n % cardinality($3) + 1 ORDER BY n`,
    [Number(endpoints), Number(rows), events],
  )
  await client.query('VACUUM ANALYZE job')
  await client.end()
}

async function send({ id: jobId, endpoint, body }: Job): Promise<void> {
  const [id, seconds] = [`msg_queue_${jobId}`, Math.floor(Date.now() / 1_000)]
  const key = secrets[endpoint] ?? Buffer.alloc(0)
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  }
  const answer = await fetch(`${receiver}/endpoint/${endpoint}`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`a receiver answered ${answer.status}`)
}

async function work(): Promise<void> {
  const client = await connected()
  for (;;) {
    await client.query('BEGIN')
    const { rows: jobs } = await client.query<Job>({
      name: 'take',
      text: 'SELECT id, endpoint, body FROM job ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED',
    })
    const [job] = jobs
    if (job === undefined) break
    await send(job)
    await client.query({ name: 'remove', text: 'DELETE FROM job WHERE id = $1', values: [job.id] })
    await client.query('COMMIT')
  }
  await client.end()
}

await fill()
process.stdout.write('filled\n')
await Promise.all(Array.from({ length: Number(workers) }, work))
