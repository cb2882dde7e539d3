/** The database of `--database`, without changing anything in it. */
import { inspectDatabase } from '@property-events/server'
import type { InspectedStore, ReachedDatabase } from '@property-events/server'
import { checkClock, checkPepper, checkSchema, epochFinding } from './check-store.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'
import type { GivenPeppers } from '../key-pepper.ts'
import { commandLine } from '../program-name.ts'

/** `folder` holds the pepper, unless that is given. */
export async function checkDatabase(
  url: string,
  folder: string,
  givenPepper: GivenPeppers,
  nowMs: number,
  /** Flags that find this store. */
  storeFlags: string,
): Promise<readonly Finding[]> {
  const database = await inspectDatabase(url)
  if (database.kind === 'unreachable') return [unreachable(url, database.code, database.reason)]
  const { store } = database
  return [
    ok('database', `PostgreSQL ${database.version} at ${placeOf(url)}, as ${database.user}`),
    checkVersion(database),
    checkPrimary(database),
    checkDurability(database),
    checkSessions(database),
    checkMessages(database),
    checkConnections(database),
    checkDatabaseClock(database),
    ...(store === undefined ? checkNoStore(database, storeFlags) : checkStoreIn(database, store, storeFlags)),
    checkClock(store?.newestEventMs, nowMs),
    checkPepper(folder, givenPepper, store?.pepperIds ?? []),
  ]
}

/** Without user, password and options. */
function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `${decodeURIComponent(hostname)}${port === '' ? '' : `:${port}`}${pathname}`
}

function unreachable(url: string, code: string, reason: string): Finding {
  const remedies: Readonly<Record<string, string>> = {
    '28P01': 'Check user and password in --database.',
    '28000': 'Check the user in --database, and that pg_hba.conf lets it in from this machine.',
    '3D000': 'Check the name of the database in --database, or create it.',
    '53300': 'Raise max_connections, or end what holds its connections.',
    '08P01': 'A pooler in between may refuse what it is sent: leave `options` out of --database.',
    '42501': 'Give the role the right to use the schema: GRANT USAGE ON SCHEMA … TO ….',
  }
  const remedy =
    remedies[code] ?? 'Check the address in --database, that it runs, and that it can be reached.'
  return fail('database', `${placeOf(url)} cannot be used (${reason})`, remedy)
}

const oldestVersion = 15
const newestVersion = 18

function checkVersion({ version, majorVersion }: ReachedDatabase): Finding {
  if (majorVersion < oldestVersion) {
    return fail('version', `${version} is too old`, `Move to PostgreSQL ${newestVersion} (pg_upgrade).`)
  }
  if (majorVersion <= newestVersion) return ok('version', version)
  const remedy = `PostgreSQL ${oldestVersion} to ${newestVersion} are known to work: try it on a copy first.`
  return warn('version', `${version} is newer than this program`, remedy)
}

function checkPrimary({ standby }: ReachedDatabase): Finding {
  if (!standby) return ok('primary', 'yes')
  return fail('primary', 'this server is a standby, and nodes refuse it', 'Name the primary in --database.')
}

function checkDurability(database: ReachedDatabase): Finding {
  const { fsync, fullPageWrites, synchronousCommit, hasSynchronousStandby } = database
  if (!fsync || !fullPageWrites) {
    const off = [fsync ? [] : ['fsync'], fullPageWrites ? [] : ['full_page_writes']].flat().join(' and ')
    const remedy = 'Turn it on again (ALTER SYSTEM RESET …, then reload), and take a new backup.'
    return fail('durability', `${off} off: a power cut can destroy the store`, remedy)
  }
  if (!hasSynchronousStandby) return ok('durability', 'a commit waits for the disk of this server')
  if (['on', 'remote_apply', 'off'].includes(synchronousCommit)) {
    return ok('durability', 'a commit waits for the disk of a standby')
  }
  return warn(
    'durability',
    `synchronous_commit = ${synchronousCommit}: a commit does not wait for the disk of a standby`,
    'Set it to on, or publishing waits for `epoch start` after a standby was promoted.',
  )
}

function checkSessions({ keepsSessions }: ReachedDatabase): Finding {
  if (keepsSessions) return ok('sessions', 'each connection has a session of its own')
  return fail(
    'sessions',
    'a pooler gives sessions to others between transactions, and settings get lost',
    'Set it to pool sessions (PgBouncer: pool_mode = session), or name the server itself.',
  )
}

function checkMessages({ deliversMessages }: ReachedDatabase): Finding {
  if (deliversMessages) return ok('messages', 'LISTEN hears what NOTIFY says')
  return warn(
    'messages',
    'LISTEN does not hear what NOTIFY says, so nodes learn of each other late',
    'Name the server itself, or a pooler that pools sessions.',
  )
}

/** As `serve` opens them without workers: 8 to read, 2 to write, 1 to listen. */
const connectionsPerNode = 11

function checkConnections({ freeConnections }: ReachedDatabase): Finding {
  const detail = `${freeConnections} free; a node takes up to ${connectionsPerNode}`
  if (freeConnections >= connectionsPerNode) return ok('connections', detail)
  return warn(
    'connections',
    detail,
    'Raise max_connections, or end what holds them. Nodes that run are counted in.',
  )
}

/** Readers that ask by their own time are off by as much. */
const clockToleranceMs = 2_000

function checkDatabaseClock({ clockAheadMs }: ReachedDatabase): Finding {
  const side = clockAheadMs < 0 ? 'behind' : 'ahead of'
  const detail = `${(Math.abs(clockAheadMs) / 1000).toFixed(1)} s ${side} this machine's`
  if (Math.abs(clockAheadMs) <= clockToleranceMs) return ok('database clock', detail)
  return warn(
    'database clock',
    detail,
    'Set the clocks of both right (NTP). Events get the time of the database.',
  )
}

function checkNoStore({ mayCreateTables }: ReachedDatabase, storeFlags: string): readonly Finding[] {
  if (mayCreateTables) {
    return [
      warn(
        'store',
        'none in this schema yet',
        `Start \`${commandLine('serve', storeFlags)}\` once to make it, or check --database.`,
      ),
    ]
  }
  const remedy = 'Start once as the owner of the schema, or: GRANT CREATE, USAGE ON SCHEMA … TO ….'
  return [fail('store', 'none in this schema, and this role may not make one', remedy)]
}

function checkStoreIn(
  database: ReachedDatabase,
  store: InspectedStore,
  storeFlags: string,
): readonly Finding[] {
  const newEpoch = store.needsEpoch || store.movedCluster
  return [
    checkRole(database, store),
    checkSchema(store),
    checkCompression(database, store),
    ...(newEpoch ? [epochFinding(storeFlags)] : []),
  ]
}

function checkRole({ user }: ReachedDatabase, { missingPrivileges }: InspectedStore): Finding {
  const [first, ...more] = missingPrivileges
  if (first === undefined) return ok('role', `${user} may do all that a node does`)
  const rest = more.length === 0 ? '' : ` and ${more.length} more`
  return fail('role', `${user} lacks ${first}${rest}`, 'Run the GRANTs of docs/operating.md as the owner.')
}

function checkCompression({ hasLz4 }: ReachedDatabase, { usesLz4 }: InspectedStore): Finding {
  if (usesLz4) return ok('compression', 'lz4')
  return hasLz4
    ? warn(
        'compression',
        'none, though this server has lz4: the store was made on one without it',
        'For new events: ALTER TABLE event ALTER COLUMN json SET COMPRESSION lz4, RESET (toast_tuple_target).',
      )
    : warn(
        'compression',
        'none: this server was built without lz4',
        'A server with lz4 needs half the space.',
      )
}
