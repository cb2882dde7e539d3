/** Places for stores of tests: an empty schema each, on a server of the tests' own or on the one that is named. */
import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { launchPostgres } from './launch-postgres.ts'
import type { LaunchedPostgres } from './launch-postgres.ts'
import { leaseDatabase } from './lease-database.ts'
import { copyRows, textOfRows } from './copied-rows.ts'
import { recycledSchemas } from './recycled-schemas.ts'
import type { RecycledSchema } from './recycled-schemas.ts'

export interface TestDatabases extends AsyncDisposable {
  /** An address with a new, empty schema in front: 2 ms, where a database of its own takes 120. */
  create(): Promise<string>
  /** A store of default settings in a schema that is made once and emptied for the next one. */
  recycled(): Promise<RecycledSchema>
  /** All rows of the store at the address, as `pg_dump` and `pg_restore` leave them in another place. */
  copied(url: string): Promise<RecycledSchema>
  /** The same rows as text. */
  bytesIn(url: string): Promise<Buffer>
}

/**
 * `PROPERTY_EVENTS_TEST_DATABASE_URL` names a database whose user may create schemas; left out, a server is started.
 * `binFolder`: start these programs, whatever is named.
 */
export async function testDatabases(binFolder?: string): Promise<TestDatabases> {
  const named = binFolder === undefined ? process.env['PROPERTY_EVENTS_TEST_DATABASE_URL'] : undefined
  if (named !== undefined) return databasesAt(named)
  const server = await launchPostgres({ binFolder })
  return databasesAt(server.url(), server)
}

let shared: Promise<TestDatabases> | undefined

/**
 * One place for all tests of this process, which goes with the process: of the server that a run of all tests has in common a database of
 * its own (`PROPERTY_EVENTS_TEST_SERVER_URL`), else as `testDatabases`. For tests that do nothing to the server or to its other sessions.
 */
export function sharedDatabases(): Promise<TestDatabases> {
  shared ??= placeToShare()
  return shared
}

async function placeToShare(): Promise<TestDatabases> {
  const { PROPERTY_EVENTS_TEST_DATABASE_URL: named, PROPERTY_EVENTS_TEST_SERVER_URL: server } = process.env
  if (named !== undefined || server === undefined) return testDatabases()
  return databasesAt(await leaseDatabase(server), 'leased')
}

/** `owner`: the server is started for this process alone, or the database is leased to it. Otherwise schemas are removed at the end. */
function databasesAt(url: string, owner?: LaunchedPostgres | 'leased'): TestDatabases {
  const admin = new Pool({ connectionString: url, max: 1, allowExitOnIdle: true })
  admin.on('error', () => undefined)
  const made: string[] = []

  const createSchema = async (): Promise<string> => {
    const name = `property_events_test_${randomUUID().replaceAll('-', '')}`
    await admin.query(`CREATE SCHEMA ${name}`)
    made.push(name)
    return name
  }
  const urlOf = (schema: string): string => inSchema(url, schema)
  const recycled = recycledSchemas({ admin, create: createSchema, urlOf, isOurs: owner === 'leased' })
  return {
    create: async () => urlOf(await createSchema()),
    recycled,
    async copied(source) {
      const target = await recycled()
      await copyRows(admin, schemaOf(source), schemaOf(target.url))
      return target
    },
    bytesIn: (source) => textOfRows(admin, schemaOf(source)),
    async [Symbol.asyncDispose]() {
      if (owner === undefined) {
        for (const name of made) await admin.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
      }
      await admin.end()
      if (owner !== 'leased') await owner?.[Symbol.asyncDispose]()
    },
  }
}

/** The address with all names looked up in one schema. */
export function inSchema(url: string, schema: string): string {
  const options = encodeURIComponent(`-c search_path=${schema}`)
  return `${url}${url.includes('?') ? '&' : '?'}options=${options}`
}

/** The schema of such an address. */
function schemaOf(url: string): string {
  const [, schema] = /search_path%3D(\w+)/.exec(url) ?? []
  if (schema === undefined) throw new Error('not a store that was made here')
  return schema
}
