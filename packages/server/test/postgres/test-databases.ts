/** Places for stores of tests: an empty schema each, on a server of the tests' own or on the one that is named. */
import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { launchPostgres } from './launch-postgres.ts'
import { recycledSchemas } from './recycled-schemas.ts'
import type { RecycledSchema } from './recycled-schemas.ts'

export interface TestDatabases extends AsyncDisposable {
  /** An address with a new, empty schema in front: 2 ms, where a database of its own takes 120. */
  create(): Promise<string>
  /** A store of default settings in a schema that is made once and emptied for the next one. */
  recycled(): Promise<RecycledSchema>
}

/**
 * `PROPERTY_EVENTS_TEST_DATABASE_URL` names a database whose user may create schemas; left out, a server is started.
 * `binFolder`: start these programs, whatever is named.
 */
export async function testDatabases(binFolder?: string): Promise<TestDatabases> {
  const named = binFolder === undefined ? process.env['PROPERTY_EVENTS_TEST_DATABASE_URL'] : undefined
  const server = named === undefined ? await launchPostgres({ binFolder }) : undefined
  const url = named ?? server?.url() ?? ''
  const admin = new Pool({ connectionString: url, max: 1, allowExitOnIdle: true })
  admin.on('error', () => undefined)
  const made: string[] = []

  const create = async (): Promise<string> => {
    const name = `property_events_test_${randomUUID().replaceAll('-', '')}`
    await admin.query(`CREATE SCHEMA ${name}`)
    made.push(name)
    return inSchema(url, name)
  }
  return {
    create,
    recycled: recycledSchemas(admin, create),
    async [Symbol.asyncDispose]() {
      // A server of our own goes as a whole.
      if (server === undefined) {
        for (const name of made) await admin.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
      }
      await admin.end()
      await server?.[Symbol.asyncDispose]()
    },
  }
}

let shared: Promise<TestDatabases> | undefined

/** One server for all tests of this process; it goes with the process. */
export function sharedDatabases(): Promise<TestDatabases> {
  shared ??= testDatabases()
  return shared
}

/** The address with all names looked up in one schema. */
export function inSchema(url: string, schema: string): string {
  const options = encodeURIComponent(`-c search_path=${schema}`)
  return `${url}${url.includes('?') ? '&' : '?'}options=${options}`
}
