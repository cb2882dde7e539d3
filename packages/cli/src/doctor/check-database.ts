/** Checks the database of `--database`, without changing anything in it. */
import { inspectDatabase } from '@property-events/server'
import type { InspectedStore, ReachedDatabase } from '@property-events/server'
import type { GivenPeppers } from '../keys/pepper.ts'
import { commandLine } from '../program-name.ts'
import { checkSnapshots } from './check-snapshots.ts'
import {
  checkClock,
  checkSchema,
  epochFinding,
  erasuresFinding,
  holdFindings,
  oldStoreFinding,
  maintenanceFinding,
  pepperFindings,
  proxyFindings,
} from './check-store.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** `folder` holds the pepper, unless the variable gives it. */
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
    ok('database', `PostgreSQL ${database.version} at ${addressOf(url)}, as ${database.user}`),
    checkVersion(database),
    checkPrimary(database),
    checkDurability(database),
    checkDataChecksums(database),
    checkSize(database),
    checkSessions(database),
    checkMessages(database),
    checkConnections(database),
    checkDatabaseClock(database),
    checkSnapshots(database.heldSnapshots),
    ...(database.madeBefore
      ? [oldStoreFinding(`the schema ${database.schema}`, 'database or schema')]
      : store === undefined
        ? checkNoStore(database, storeFlags)
        : checkStoreIn(database, store, nowMs, storeFlags)),
    checkClock(store?.newestEventMs, nowMs),
    ...pepperFindings(folder, givenPepper, store),
    ...holdFindings(store?.expiredHolds ?? 0),
    ...proxyFindings(store?.proxyIgnoredBy ?? []),
  ]
}

/** Without user, password and options. */
function addressOf(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `${decodeURIComponent(hostname)}${port === '' ? '' : `:${port}`}${pathname}`
}

function unreachable(url: string, code: string, reason: string): Finding {
  const remedies: Readonly<Record<string, string>> = {
    '28P01': 'Check user and password in --database.',
    '28000': 'Check the user in --database, and that pg_hba.conf lets it in from this machine.',
    '3D000': 'Check the name of the database in --database, or create it.',
    '53300': 'Raise max_connections, or end the programs that use its connections.',
    '08P01': 'A pooler in between may refuse what it is sent: leave `options` out of --database.',
    '42501':
      'Give the role the right to use the schema, as the owner: GRANT USAGE ON SCHEMA (its name) TO (the role).',
  }
  const remedy =
    remedies[code] ?? 'Check the address in --database, that the server runs, and that it can be reached.'
  return fail('database', `${addressOf(url)} cannot be used (${reason})`, remedy)
}

const oldestVersion = 15
const newestVersion = 18

function checkVersion({ version, majorVersion }: ReachedDatabase): Finding {
  if (majorVersion < oldestVersion) {
    return fail('version', `${version} is too old`, `Move to PostgreSQL ${newestVersion} (pg_upgrade).`)
  }
  if (majorVersion <= newestVersion) return ok('version', version)
  const remedy = `PostgreSQL ${oldestVersion} to ${newestVersion} are supported: try it on a copy first.`
  return warn('version', `${version} is newer than this program`, remedy)
}

function checkPrimary({ standby }: ReachedDatabase): Finding {
  if (!standby) return ok('primary', 'yes')
  return fail('primary', 'this server is a standby, and nodes refuse it', 'Name the primary in --database.')
}

function checkDurability(database: ReachedDatabase): Finding {
  const { fsync, fullPageWrites, synchronousCommit, hasSynchronousStandby } = database
  if (!fsync || !fullPageWrites) {
    const off = [fsync ? [] : ['fsync'], fullPageWrites ? [] : ['full_page_writes']].flat()
    const resets = off.map((setting) => `ALTER SYSTEM RESET ${setting};`).join(' ')
    const remedy = `${resets} SELECT pg_reload_conf(); and look for it in postgresql.conf. Then take a new backup.`
    return fail('durability', `${off.join(' and ')} off: a power cut can destroy the store`, remedy)
  }
  if (!hasSynchronousStandby) return ok('durability', 'a commit waits for the disk of this server')
  if (['on', 'remote_apply', 'off'].includes(synchronousCommit)) {
    return ok('durability', 'a commit waits for the disk of a standby')
  }
  return warn(
    'durability',
    `synchronous_commit = ${synchronousCommit}: a commit does not wait for the disk of a standby`,
    'Set it to on, or publishing waits for `epoch start` after a standby is promoted.',
  )
}

function checkDataChecksums({ dataChecksums }: ReachedDatabase): Finding {
  if (dataChecksums) return ok('checksums', 'the server finds pages that its disk has changed')
  return warn(
    'checksums',
    'off: bytes that the disk changes are served as if they had been published',
    'Stop the cluster and run: pg_checksums --enable -D DATA_FOLDER. For a new cluster: initdb --data-checksums.',
  )
}

function checkSize({ databaseBytes }: ReachedDatabase): Finding {
  const size = `${(databaseBytes / 1e9).toFixed(1)} GB`
  return ok('database size', `${size}; only the server's own machine tells how much is free there (df)`)
}

function checkSessions({ keepsSessions }: ReachedDatabase): Finding {
  if (keepsSessions) return ok('sessions', 'each connection has a session of its own')
  return fail(
    'sessions',
    'a pooler gives a session to others between transactions, and its settings are lost',
    'Set the pooler to pool sessions (PgBouncer: pool_mode = session), or name the server itself.',
  )
}

function checkMessages({ deliversMessages }: ReachedDatabase): Finding {
  if (deliversMessages) return ok('messages', 'LISTEN receives what NOTIFY sends')
  return warn(
    'messages',
    'LISTEN does not receive what NOTIFY sends, so nodes learn of changes late',
    'Name the server itself, or a pooler that pools sessions.',
  )
}

/** As `serve` opens them: 8 for reading, 8 for writing, 1 for notices. */
const connectionsPerNode = 17

function checkConnections({ freeConnections }: ReachedDatabase): Finding {
  const detail = `${freeConnections} free; a node uses up to ${connectionsPerNode}`
  if (freeConnections >= connectionsPerNode) return ok('connections', detail)
  return warn(
    'connections',
    detail,
    'Raise max_connections, or end the programs that use them. Running nodes are included.',
  )
}

/** Readers that ask by their own clock are wrong by as much. */
const clockToleranceMs = 2_000

function checkDatabaseClock({ clockAheadMs }: ReachedDatabase): Finding {
  const side = clockAheadMs < 0 ? 'behind' : 'ahead of'
  const detail = `${(Math.abs(clockAheadMs) / 1000).toFixed(1)} s ${side} this machine's`
  if (Math.abs(clockAheadMs) <= clockToleranceMs) return ok('database clock', detail)
  return warn('database clock', detail, 'Correct both clocks (NTP). Events get the time of the database.')
}

function checkNoStore(database: ReachedDatabase, storeFlags: string): readonly Finding[] {
  const { mayCreateTables, schema, user } = database
  if (schema === '') {
    const remedy = 'Create the schema that search_path names, or leave search_path out of --database.'
    return [fail('store', 'none: no schema of the search path exists', remedy)]
  }
  if (mayCreateTables) {
    return [
      warn(
        'store',
        `none in the schema ${schema} yet`,
        `Start \`${commandLine('serve', storeFlags)}\` once to create it, or check --database.`,
      ),
    ]
  }
  const remedy = `Start once as the owner of the schema, or as its owner: GRANT CREATE, USAGE ON SCHEMA ${schema} TO ${user}.`
  return [fail('store', `none in the schema ${schema}, and ${user} may not create one`, remedy)]
}

function checkStoreIn(
  database: ReachedDatabase,
  store: InspectedStore,
  nowMs: number,
  storeFlags: string,
): readonly Finding[] {
  return [
    checkRole(database, store),
    checkMigration(database, store, storeFlags),
    checkCompression(database, store),
    ...checkEpoch(store, storeFlags),
    ...maintenanceFinding(store, storeFlags),
    ...erasuresFinding(store, nowMs, storeFlags),
  ]
}

/** N is proposed if nodes have reported the numbers they had shown; others may have shown more. */
function checkEpoch(
  { needsEpoch, movedCluster, waitingFeeds, lostFeeds }: InspectedStore,
  storeFlags: string,
): readonly Finding[] {
  if (!needsEpoch && !movedCluster && waitingFeeds === 0) return []
  const ofAll = needsEpoch || movedCluster
  if (lostFeeds.length === 0) {
    const detail = `publishing to ${waitingFeeds} feeds waits`
    return [ofAll ? epochFinding(storeFlags) : epochFinding(storeFlags, detail)]
  }
  const lost = lostFeeds
    .slice(0, 3)
    .map(({ tenantId, feed, shownNumber, heldNumber }) => {
      return `${feed} of tenant ${tenantId} up to ${shownNumber}, and the store has ${heldNumber}`
    })
    .join('; ')
  const detail = `publishing to ${ofAll ? 'every feed' : `${waitingFeeds} feeds`} waits: nodes have shown ${lost}${lostFeeds.length > 3 ? '; …' : ''}`
  const commandFor = (number: number, where = '') =>
    `\`${commandLine(`epoch start --continue-after ${number}${where}`, storeFlags)}\``
  const commands = ofAll
    ? [commandFor(Math.max(...lostFeeds.map(({ shownNumber }) => shownNumber)))]
    : lostFeeds.map(({ tenantId, feed, shownNumber }) =>
        commandFor(shownNumber, ` --tenant ${tenantId} --feed ${feed}`),
      )
  const rest = commands.length > 3 ? ' and so on' : ''
  const remedy = `Run ${commands.slice(0, 3).join(', ')}${rest}, with a higher number if any consumer has received one.`
  return [fail('epoch', detail, remedy)]
}

function checkRole({ user, schema }: ReachedDatabase, { missingPrivileges, owner }: InspectedStore): Finding {
  const [first, ...more] = missingPrivileges
  if (first === undefined) return ok('role', `${user} may do everything that a node does`)
  const rest = more.length === 0 ? '' : ` and ${more.length} more`
  const lacking = new Map<string, string[]>()
  for (const privilege of missingPrivileges) {
    const [right = '', relation = ''] = privilege.split(' on ')
    lacking.set(right, [...(lacking.get(right) ?? []), relation])
  }
  const grants = Array.from(lacking, ([right, names]) =>
    right === 'EXECUTE'
      ? `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${user}`
      : `GRANT ${right} ON ${names.join(', ')} TO ${user}`,
  )
  const remedy = `As ${owner}: ${grants.join('; ')};`
  return fail('role', `${user} lacks ${first}${rest}`, remedy)
}

function checkMigration({ user }: ReachedDatabase, store: InspectedStore, storeFlags: string): Finding {
  const { schemaVersion, knownSchemaVersion, mayMigrate, owner } = store
  if (mayMigrate || schemaVersion >= knownSchemaVersion) return checkSchema(store)
  return fail(
    'schema',
    `version ${schemaVersion}; this program needs ${knownSchemaVersion}, and ${user} may not bring it up to date`,
    `Run \`${commandLine('tenants list', storeFlags)}\` once as ${owner}; nodes of the previous version keep running meanwhile.`,
  )
}

function checkCompression({ hasLz4 }: ReachedDatabase, { usesLz4 }: InspectedStore): Finding {
  if (usesLz4) return ok('compression', 'lz4')
  return hasLz4
    ? warn(
        'compression',
        'none, although this server has lz4: the store was created on one without it',
        'For new events: ALTER TABLE event ALTER COLUMN json SET COMPRESSION lz4, RESET (toast_tuple_target).',
      )
    : warn(
        'compression',
        'none: this server was built without lz4',
        'A server with lz4 needs half the space.',
      )
}
