/**
 * Gates in the database at which a node's append can be held: before it takes the counters (`lock`), once its events are
 * stamped (`stamp`), and when all is written but not committed (`commit`). A gate is an advisory lock that the append
 * asks for and a test can hold.
 */
import { Client } from 'pg'
import { until } from '../../support/until.ts'

export type GatePoint = 'lock' | 'stamp' | 'commit'

export interface Gates extends AsyncDisposable {
  /** The address by which one node opens the store, so that its gates are its own. */
  urlOf(node: string): string
  close(node: string, point: GatePoint): Promise<void>
  open(node: string, point: GatePoint): Promise<void>
  /** Resolves when the node's append stands at the gate. */
  reached(node: string, point: GatePoint): Promise<void>
  /** Puts plpgsql around the functions that append; `call` stands for the call of what was there before. */
  wrapAppend(body: (call: string) => string): Promise<void>
  /** Any other statement. */
  query(text: string): Promise<readonly Record<string, unknown>[]>
}

const gateFunctions = `
  CREATE FUNCTION gate(point text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext(current_schema() || current_setting('test.node', true) || point));
  END $$;
  CREATE FUNCTION stamp_gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM gate('stamp'); RETURN NULL; END $$;
  CREATE TRIGGER stamp_gate AFTER INSERT ON event FOR EACH STATEMENT EXECUTE FUNCTION stamp_gate();`

/** Puts gates into a store that has been made already. */
export async function putGates(url: string): Promise<Gates> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(gateFunctions)
  await wrapAppend(client, (call) => `PERFORM gate('lock'); RETURN QUERY ${call}; PERFORM gate('commit');`)
  const key = (node: string, point: GatePoint) => `hashtext(current_schema() || '${node}' || '${point}')`

  return {
    urlOf: (node) => asNode(url, node),
    async close(node, point) {
      await client.query(`SELECT pg_advisory_lock(${key(node, point)})`)
    },
    async open(node, point) {
      await client.query(`SELECT pg_advisory_unlock(${key(node, point)})`)
    },
    async reached(node, point) {
      const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND (classid::bigint << 32 | objid::bigint) = ${key(node, point)}::bigint`
      const stands = async () => (await client.query(waiting)).rowCount !== 0
      await until(stands, { what: `${node} at its gate ${point}`, everyMs: 5 })
    },
    wrapAppend: (body) => wrapAppend(client, body),
    query: async (text) => (await client.query(text)).rows,
    async [Symbol.asyncDispose]() {
      await client.end()
    },
  }
}

/** An address whose sessions have gates under this name. Those without a name pass all gates. */
export function asNode(url: string, node: string): string {
  const option = encodeURIComponent(`-c test.node=${node} `)
  return url.includes('options=') ? url.replace('options=', `options=${option}`) : `${url}?options=${option}`
}

let wrapped = 0

/** The functions that append: one event, and any number. */
const appends = ['append_event', 'append_events'] as const

async function wrapAppend(client: Client, body: (call: string) => string): Promise<void> {
  wrapped += 1
  for (const name of appends) {
    const inner = `${name}_${wrapped}`
    await client.query(`ALTER FUNCTION ${name} RENAME TO ${inner}`)
    const { rows } = await client.query<{ parameters: string; numbers: string }>(
      `SELECT string_agg(proargnames[n] || ' ' || type::regtype::text, ', ' ORDER BY n) AS parameters,
        string_agg('$' || n, ', ' ORDER BY n) AS numbers
      FROM pg_proc, unnest(proargtypes) WITH ORDINALITY AS given (type, n)
      WHERE proname = '${inner}' AND pronamespace = current_schema()::regnamespace`,
    )
    const { parameters = '', numbers = '' } = rows[0] ?? {}
    await client.query(`CREATE FUNCTION ${name}(${parameters})
      RETURNS TABLE (status text, positions bigint[], offsets bigint[], created bigint[]) LANGUAGE plpgsql AS $$
      BEGIN ${body(`SELECT * FROM ${inner}(${numbers})`)} END $$`)
  }
}
