/** Opens a data folder and serves it: the lock, the store, the pepper, the listening service; and closes them again. */
import { catalogues } from '@property-events/protocol'
import {
  acquireServingLock,
  createLogger,
  createService,
  defaultLimits,
  exporterTo,
  findPeppers,
  loadPeppers,
  openStorage,
  pepperFit,
  readPepperUse,
  StorageRefusal,
} from '@property-events/server'
import type {
  ErasureList,
  KeyRate,
  LogForm,
  Peppers,
  Service,
  ServiceOptions,
  ShownSetting,
  StorageEngine,
} from '@property-events/server'
import type { Invocation } from '../command-context.ts'
import { checkDatabase } from '../doctor/check-database.ts'
import { checkDiskSpace, checkNode, checkPageSpace, thisNode } from '../doctor/check-machine.ts'
import { checkStore } from '../doctor/check-store.ts'
import type { Finding } from '../doctor/finding.ts'
import type { GivenPeppers } from '../keys/pepper.ts'
import { openServedErasureList } from '../privacy/erasure-list.ts'
import { Refusal } from '../refusal.ts'
import type { RateLimit } from '../settings/rate-limit.ts'
import type { readServeOptions } from '../settings/serve-settings.ts'

/** The settings, and what the command adds. */
export type ServeOptions = ReturnType<typeof readServeOptions> & {
  /** How the log is written to stderr. */
  readonly logForm: LogForm
  /** All settings, as the operator sees them. */
  readonly shown: readonly ShownSetting[]
  /** Flags that find the store, for remedies. */
  readonly storeFlags: string
  /** The folder of the console's page; `undefined`: the console is off. */
  readonly consoleFolder: string | undefined
  /** Photographs of invented homes. */
  readonly pictures: ServiceOptions['pictures']
}

function loggerOf({ logLevel, logForm }: Pick<ServeOptions, 'logLevel' | 'logForm'>) {
  return createLogger({ level: logLevel, form: logForm })
}

export interface StartedService {
  readonly service: Service
  readonly storage: StorageEngine
  readonly peppers: Peppers
  /** Accepts no more requests, answers those in flight, closes the store, releases the folder. */
  close(): Promise<void>
}

/**
 * Throws a `Refusal`, `StorageRefusal`, `PepperRefusal` or an error of the machine, and then leaves nothing open.
 * `signal` ends the wait for a database that is away.
 */
export async function startService(options: ServeOptions, signal: AbortSignal): Promise<StartedService> {
  const lock = acquireServingLock(options.data)
  if (lock instanceof StorageRefusal) throw lock
  try {
    const storage = await openForServing(options, signal)
    let erasureList: ErasureList | undefined
    try {
      erasureList = await openServedErasureList(options, storage)
      const peppers = await peppersForServing(options, storage)
      const service = await listen(options, storage, peppers, erasureList)
      lock.announce(service)
      return {
        service,
        storage,
        peppers,
        async close() {
          await service.close()
          await erasureList?.close()
          await storage.close()
          lock.release()
        },
      }
    } catch (error) {
      await erasureList?.close()
      await storage.close()
      throw error
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** An old store keeps its event types; only a new one gets the default ones (D12). */
async function openForServing(options: ServeOptions, signal: AbortSignal): Promise<StorageEngine> {
  const {
    data: folder,
    database,
    maxBytes,
    catalogue,
    startSequence,
    overrideClock: overrideClockCheck,
    waitMs,
  } = options
  const location =
    database === undefined
      ? ({ kind: 'sqlite', folder, maxBytes } as const)
      : ({ kind: 'postgres', url: database } as const)
  const onWaiting = (reason: string): void => loggerOf(options).warn(reason)
  const wanted = {
    ...location,
    catalogue,
    startSequence,
    overrideClockCheck,
    onWaiting,
    waitMs,
    signal,
  } as const
  try {
    return await openStorage({ ...wanted, create: false })
  } catch (error) {
    if (!(error instanceof StorageRefusal) || error.code !== 'not_a_store') throw error
  }
  return openStorage({ ...wanted, catalogue: catalogue ?? catalogues.default, create: true })
}

/**
 * A new pepper is made only if no key needs another one. Without the right one the service still starts, so that the operator can see
 * what is wrong, but is not ready: it would refuse every key.
 */
async function peppersForServing(options: ServeOptions, storage: StorageEngine): Promise<Peppers> {
  const location = { folder: options.data, given: options.keyPepper, old: options.oldKeyPepper }
  const use = await readPepperUse(storage)
  const found = findPeppers(location)
  if (found !== undefined && pepperFit(found, use) !== 'none') return found
  if (use.inUse.length === 0) return found ?? loadPeppers(location)
  const wrong =
    found === undefined
      ? `There is no key pepper in ${options.data}, and keys of this store were created with one`
      : use.pepperId === undefined
        ? 'No key of this store was created with this pepper'
        : 'This pepper is not the one that `pepper finish` has recorded'
  const remedy = 'put the right one back, or set PROPERTY_EVENTS_KEY_PEPPER, and start again'
  const log = loggerOf(options)
  log.error(`${wrong}: no key works, and this service is not ready. Stop it, ${remedy}.`)
  // Never kept: no key was made with it, and none will be.
  return found ?? loadPeppers({ folder: undefined, given: undefined })
}

function limitsOf(options: ServeOptions) {
  const { tenantRateLimit } = options
  return {
    maxPageSize: options.maxPageSize,
    defaultPageSize: Math.min(defaultLimits.defaultPageSize, options.maxPageSize),
    requests: rateOf(options.rateLimit),
    tenantRequests: tenantRateLimit && rateOf(tenantRateLimit),
    requestsAtOncePerKey: options.concurrentRequests,
    waitingPerKey: options.waitingRequests,
    waitingPerNode: options.waitingRequestsPerNode,
    maxConnections: options.maxConnections,
    idleSocketTimeoutMs: options.readerTimeoutMs,
    inFlightBytes: options.inFlightBytes,
    inFlightBytesPerKey: options.inFlightBytesPerKey,
    keepAliveTimeoutMs: options.keepAliveMs,
    resultDays: options.resultDays,
  }
}

function consoleOf({ consoleFolder: folder, consoleImages: imageHosts, publicUrl: url }: ServeOptions) {
  return folder === undefined ? undefined : { folder, imageHosts, url }
}

/** "Off" is more than any client can ask for. */
function rateOf(limit: RateLimit): KeyRate {
  return limit === 'off' ? { perSecond: 1e9, burst: 1e9 } : limit
}

async function listen(
  options: ServeOptions,
  storage: StorageEngine,
  peppers: Peppers,
  erasureList: ErasureList | undefined,
): Promise<Service> {
  const wanted = {
    storage,
    log: loggerOf(options),
    peppers,
    host: options.host,
    port: options.port,
    metrics: { host: options.metricsHost, port: options.metricsPort },
    basePath: options.basePath,
    trustedProxies: options.trustedProxies,
    corsOrigins: options.corsOrigins,
    plainConnections: options.plainConnections,
    retention: options.retention,
    pictures: options.pictures,
    testKeys: options.testKeys !== 'off',
    console: consoleOf(options),
    webhooks: options.webhooks,
    pages: {
      memoryBytes: options.pageMemoryBytes,
      fileBytes: options.pageFileBytes,
      folder: options.pageFileBytes === 0 ? undefined : options.data,
    },
    limits: limitsOf(options),
    erasureList,
    exportTenant: exporterTo(options.tenantExports, storage),
    shownSettings: options.shown,
    findings: serviceFindings(options),
  } as const
  try {
    return await createService(wanted)
  } catch (error) {
    throw portRefusal(error, options) ?? error
  }
}

interface WantedPorts {
  readonly port: number
  readonly metricsPort: number
}

/** What to do about a port that the service cannot have; `undefined` for an error of another kind. */
function portRefusal(error: unknown, options: WantedPorts): Refusal | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  if (error.code !== 'EADDRINUSE') return undefined
  const port = 'port' in error ? error.port : undefined
  if (port === options.metricsPort && port !== options.port) {
    return new Refusal(
      `Port ${options.metricsPort} for metrics is taken. Choose another with --metrics-port (0 for any free one).`,
    )
  }
  return new Refusal(
    `Port ${options.port} is taken. Stop the program that listens there, or choose another with --port (0 for any free one).`,
  )
}

/** What a command does once its service listens: load, announce. It ends with the signal at the latest. */
export type ServeStage = (
  started: StartedService,
  invocation: Invocation,
  options: ServeOptions,
  signal: AbortSignal,
) => Promise<void>

interface CheckedService {
  readonly data: string
  readonly database: string | undefined
  readonly keyPepper: string | undefined
  readonly oldKeyPepper: string | undefined
  /** Flags that find the store. */
  readonly storeFlags: string
}

/**
 * What a service finds out about itself and its store: like `doctor`, except for checks that write, take long or look for free ports.
 * Each call checks again: some milliseconds, and with a database a separate connection.
 */
function serviceFindings(service: CheckedService): () => Promise<readonly Finding[]> {
  const { data: folder, database, keyPepper: given, oldKeyPepper: old, storeFlags } = service
  const peppers: GivenPeppers = { given, old }
  return async () => [
    checkNode(thisNode(), { again: false }),
    ...(database === undefined
      ? [checkDiskSpace(folder), ...checkStore(folder, peppers, Date.now(), storeFlags, { readsAll: false })]
      : [
          checkPageSpace(folder),
          ...(await checkDatabase(database, folder, peppers, Date.now(), storeFlags)),
        ]),
  ]
}
