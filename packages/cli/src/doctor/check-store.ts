/** Checks the store, its clock and its pepper, without changing anything. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  checkEvents,
  findPeppers,
  inspectStore,
  openSecret,
  pepperFileName,
  pepperFit,
} from '@property-events/server'
import type { EventsCheck, Pepper, StoreInspection } from '@property-events/server'
import { errorMessage } from '../error-message.ts'
import type { GivenPeppers } from '../keys/pepper.ts'
import type { Output } from '../output.ts'
import { commandLine, epochCommand, epochNumber } from '../program-name.ts'
import { createProgress } from '../progress.ts'
import { timestampText } from '../timestamp-option.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

type Store = StoreInspection & { kind: 'store' }

/** Findings about the store, and those that follow from its contents. */
export function checkStore(
  folder: string,
  givenPepper: GivenPeppers,
  nowMs: number,
  /** Flags that find this store. */
  storeFlags: string,
  /** False: the file is not read from end to end, and there is no finding about its integrity. */
  { readsAll }: { readonly readsAll: boolean } = { readsAll: true },
): readonly Finding[] {
  const store = inspectStore(folder, { readsAll })
  if (store.kind === 'none') {
    return [
      warn(
        'store',
        `none in ${folder} yet`,
        `Start \`${commandLine('serve', storeFlags)}\` once to create it, or check --data.`,
      ),
      checkClock(undefined, nowMs),
      ...pepperFindings(folder, givenPepper),
    ]
  }
  if (store.kind === 'madeBefore') {
    return [oldStoreFinding(store.file, 'data folder'), checkClock(undefined, nowMs)]
  }
  if (store.kind === 'unreadable') {
    const remedy =
      'Check owner and permissions; if the file is damaged, restore the last backup into an empty folder.'
    return [
      fail('store', `${store.file} cannot be read (${store.reason})`, remedy),
      checkClock(undefined, nowMs),
    ]
  }
  return [
    ...(readsAll ? [checkIntegrity(store)] : []),
    checkSchema(store),
    ...(store.needsEpoch ? [epochFinding(storeFlags)] : []),
    ...maintenanceFinding(store, storeFlags),
    ...erasuresFinding(store, nowMs, storeFlags),
    checkClock(store.newestEventMs, nowMs),
    ...pepperFindings(folder, givenPepper, store),
    ...holdFindings(store.expiredHolds),
    ...proxyFindings(store.proxyIgnoredBy),
  ]
}

/** `empty`: what a new store can be made in. */
export function oldStoreFinding(location: string, empty: string): Finding {
  const remedy = `Create a new one: name an empty ${empty} for it, or remove the old store.`
  return fail('store', `the one in ${location} was created before 0.1.0`, remedy)
}

/** Each node records in its row of the store whether it has seen one. */
export function proxyFindings(ignoredBy: readonly string[]): readonly Finding[] {
  if (ignoredBy.length === 0) return []
  const where = ignoredBy.length > 3 ? `${ignoredBy.slice(0, 3).join('; ')}; …` : ignoredBy.join('; ')
  return [
    warn(
      'proxy',
      `clients come through a proxy (X-Forwarded-For or Forwarded) that is not trusted, so the wrong keys of all of them count against its address (${where})`,
      'If the proxy is yours, start with --trusted-proxies 1; if there are several in a row, with their number.',
    ),
  ]
}

/** None while no expired hold waits for attention. */
export function holdFindings(expired: number): readonly Finding[] {
  if (expired === 0) return []
  const holds = expired === 1 ? '1 hold has' : `${expired} holds have`
  const detail = `${holds} expired; what was on hold can be erased again`
  const remedy = `\`${commandLine('holds list')}\` shows them. Add a new hold for what must be kept longer; then end each expired one: \`${commandLine('holds end ID')}\`.`
  return [warn('holds', detail, remedy)]
}

function checkIntegrity({ file, bytes, damages }: Store): Finding {
  const [first] = damages
  if (first === undefined) return ok('integrity', `${file} is intact (${(bytes / 1e6).toFixed(1)} MB)`)
  const remedy = 'Stop the service, keep the folder as it is, and restore the last backup into an empty one.'
  return fail('integrity', `${file} is damaged: ${first}`, remedy)
}

export function checkSchema({
  schemaVersion,
  knownSchemaVersion,
}: Pick<Store, 'schemaVersion' | 'knownSchemaVersion'>): Finding {
  if (schemaVersion === knownSchemaVersion) return ok('schema', `version ${schemaVersion}`)
  const detail = `version ${schemaVersion}; this program knows ${knownSchemaVersion}`
  return schemaVersion > knownSchemaVersion
    ? fail('schema', detail, 'Start the newer program that wrote the store, or restore a backup made before.')
    : warn('schema', detail, 'The next start brings it up to date; make a backup before.')
}

export function epochFinding(
  storeFlags: string,
  detail = 'the store is a restored copy, and publishing waits',
): Finding {
  const remedy = `Run \`${epochCommand(storeFlags)}\`. ${epochNumber}.`
  return fail('epoch', detail, remedy)
}

/** None while publishing continues. */
export function maintenanceFinding(
  { maintenance }: Pick<Store, 'maintenance'>,
  storeFlags: string,
): readonly Finding[] {
  if (maintenance === undefined) return []
  const detail = `on since ${timestampText(maintenance.sinceMs)} UTC: publications are refused`
  return [
    warn('maintenance', detail, `When the work is done: \`${commandLine('maintenance off', storeFlags)}\`.`),
  ]
}

/** A person who asks to be forgotten is answered within a month. */
const longWaitMs = 7 * 24 * 3_600_000

/** None while no erasure has waited for long. */
export function erasuresFinding(
  { waitingErasures: { count, oldestMs = Infinity } }: Pick<Store, 'waitingErasures'>,
  nowMs: number,
  storeFlags: string,
): readonly Finding[] {
  if (nowMs - oldestMs < longWaitMs) return []
  const days = Math.floor((nowMs - oldestMs) / (24 * 3_600_000))
  const erasures = count === 1 ? '1 erasure waits' : `${count} erasures wait`
  const detail = `${erasures} to be overwritten in free space, the oldest for ${days} days`
  return [
    warn(
      'erasures',
      detail,
      `Run \`${commandLine('compact', storeFlags)}\`, best every day: --schedule 02:30.`,
    ),
  ]
}

/** When this was written: a correct clock never shows less. */
const writtenMs = Date.UTC(2026, 0, 1)

/** D25. */
const toleranceMs = 5 * 60_000

export function checkClock(newestEventMs: number | undefined, nowMs: number): Finding {
  const remedy = 'Correct the clock (NTP); --override-clock publishes anyway.'
  if (nowMs < writtenMs)
    return fail('clock', `shows ${timestampText(nowMs)} UTC, which has long passed`, remedy)
  if (newestEventMs !== undefined && newestEventMs - nowMs > toleranceMs) {
    const detail = `shows ${timestampText(nowMs)} UTC, earlier than the newest event (${timestampText(newestEventMs)}): publishing waits`
    return fail('clock', detail, remedy)
  }
  return ok('clock', `${timestampText(nowMs)} UTC`)
}

/** Of the pepper; if it is the right one, also of secrets that it does not open. */
export function pepperFindings(
  folder: string,
  peppers: GivenPeppers,
  store: Pick<Store, 'pepperIds' | 'webhookSecrets'> = { pepperIds: [], webhookSecrets: [] },
): readonly Finding[] {
  const pepper = checkPepper(folder, peppers, store.pepperIds)
  if (pepper.status === 'fail') return [pepper]
  return [pepper, ...secretsFinding(findPeppers({ folder, ...peppers }) ?? [], store.webhookSecrets)]
}

function checkPepper(folder: string, { given, old }: GivenPeppers, pepperIds: readonly string[]): Finding {
  const path = join(folder, pepperFileName)
  if (given === undefined && !existsSync(path)) {
    return pepperIds.length === 0
      ? ok('pepper', 'created at the first start')
      : fail(
          'pepper',
          `${path} is missing, and no key works without it`,
          'Put the file back from a backup, or set PROPERTY_EVENTS_KEY_PEPPER.',
        )
  }
  let fit: ReturnType<typeof pepperFit>
  try {
    const peppers = findPeppers({ folder, given, old }) ?? []
    fit = pepperFit(peppers, { inUse: pepperIds, pepperId: undefined })
  } catch (error) {
    return fail('pepper', errorMessage(error), 'Put the right one back from a backup.')
  }
  if (fit === 'none') {
    return fail(
      'pepper',
      'no key of this store was created with this pepper',
      'Put back the one with which the keys were created.',
    )
  }
  const mode = given === undefined ? statSync(path).mode & 0o777 : 0
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    return fail(
      'pepper',
      `${path} can be read by other users (mode ${mode.toString(8)})`,
      `Run: chmod 600 ${path}`,
    )
  }
  const source = given === undefined ? path : 'from PROPERTY_EVENTS_KEY_PEPPER'
  if (fit === 'all') return ok('pepper', source)
  return warn(
    'pepper',
    `${source}; some keys of this store were created with another one, and do not work`,
    'Create a new key for each client that is refused with 401, and revoke its old one.',
  )
}

const mostNamed = 3

/** None while each secret of webhooks can be opened, to sign with: some 10 µs each. */
function secretsFinding(peppers: readonly Pepper[], secrets: Store['webhookSecrets']): readonly Finding[] {
  const closed = secrets.filter(({ endpointId, sealed, pepperId }) => {
    const pepper = peppers.find((one) => one.pepperId === pepperId)
    return pepper === undefined || openSecret(pepper, endpointId, sealed) === undefined
  })
  if (closed.length === 0) return []
  const endpoints = [...new Set(closed.map(({ endpointId }) => endpointId))]
  const named = endpoints.slice(0, mostNamed).join(', ') + (endpoints.length > mostNamed ? ', …' : '')
  const have = endpoints.length === 1 ? '1 webhook has' : `${endpoints.length} webhooks have`
  return [
    warn(
      'webhook secrets',
      `${have} a secret that was sealed with another pepper, or is damaged; nothing is signed with it (${named})`,
      `Give the other pepper as the old one and run \`${commandLine('pepper finish')}\`; if it is lost, \`${commandLine('webhooks secret ID')}\` makes a new secret, and \`${commandLine('webhooks resume ID')}\` sends again.`,
    ),
  ]
}

const remedy =
  'Stop the service, keep the folder as it is, restore the last backup into an empty one, and have the disk checked.'

/** The store in the folder exists and can be opened: `checkStore` has checked that. */
export function checkEveryEvent(folder: string, output: Output): Finding {
  const progress = createProgress(output, 'events read')
  try {
    return findingOf(checkEvents(folder, (events) => progress.update(events, undefined)))
  } finally {
    progress.end()
  }
}

function findingOf({ events, damaged, examples, cutOff }: EventsCheck): Finding {
  const read = `${events.toLocaleString('en-GB')} events read`
  if (cutOff !== undefined) return fail('events', `${read}, and no further (${cutOff})`, remedy)
  const [first] = examples
  if (first !== undefined) {
    const position = `tenant ${first.tenantId}, ${first.feed} feed, position ${first.position}`
    const which =
      damaged === 1 ? `one is damaged (${position})` : `${damaged} are damaged, the first at ${position}`
    return fail('events', `${read}; ${which}; they are answered with 500 storage_damaged`, remedy)
  }
  return ok('events', `${read}, each as it was stored`)
}
