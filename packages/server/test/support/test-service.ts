/** A whole service on loopback, with tenants and keys, for tests that speak to it as a client would. */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { catalogues, scopes } from '@property-events/protocol'
import type { AdminScope, EventTypeCatalogue } from '@property-events/protocol'
import { createLogger, createService, issueKey, loadPeppers, openStorage } from '../../src/index.ts'
import type {
  ErasureList,
  Grant,
  KeyRate,
  KeyReading,
  Service,
  ServiceOptions,
  StorageEngine,
} from '../../src/index.ts'
import type { SqliteOptions } from '../../src/store/sqlite/engine.ts'
import { sharedDatabases } from '../postgres/test-databases.ts'
import { makeStoreFolder, openNewStore } from './temporary-store.ts'

/** Engines the suite runs on. One more engine is one more name here and one more case below. */
export const testEngines = ['sqlite', 'postgres'] as const
export type TestEngine = (typeof testEngines)[number]

export interface TestTenant {
  readonly tenantId: string
  /** Both read scopes. */
  readonly readKey: string
  /** Both publish scopes. */
  readonly publishKey: string
  /** Both erase scopes. */
  readonly eraseKey: string
}

export interface TestServiceOptions {
  /** SQLite if left out. */
  readonly engine?: TestEngine
  /** On SQLite: `thisThread` if left out, since another takes longer to start than all the rest. */
  readonly writesOn?: SqliteOptions['writesOn']
  readonly catalogue?: EventTypeCatalogue
  readonly limits?: ServiceOptions['limits']
  readonly basePath?: string
  readonly trustedProxies?: number
  readonly plainConnections?: boolean
  readonly deprecations?: ServiceOptions['deprecations']
  readonly maintenanceFreshMs?: number
  readonly pictures?: ServiceOptions['pictures']
  readonly testKeys?: boolean
  readonly corsOrigins?: readonly string[]
  /** To whom it sends webhooks; to nobody if left out. */
  readonly webhooks?: ServiceOptions['webhooks']
  readonly console?: ServiceOptions['console']
  /** A few seconds if left out. */
  readonly deletionSettleMs?: number
  readonly exportTenant?: ServiceOptions['exportTenant']
  readonly shownSettings?: ServiceOptions['shownSettings']
  readonly findings?: ServiceOptions['findings']
  /** In place of the machine's clock, for keys and rate limits. */
  readonly clock?: () => number
  /** In place of a database of the tests' own server. */
  readonly databaseUrl?: string
  /** Where what is erased is written down. */
  readonly erasureList?: ErasureList
  /** Puts something between the service and its engine, such as one that fails. */
  readonly wrap?: (storage: StorageEngine) => StorageEngine
}

export interface TestService {
  readonly service: Service
  readonly url: string
  readonly port: number
  /** Its data folder. */
  readonly folder: string
  readonly storage: StorageEngine
  readonly tenant: TestTenant
  readonly otherTenant: TestTenant
  readonly log: ServiceOptions['log']
  /** Log lines so far. */
  readonly logLines: readonly string[]
  /** A new key. */
  issue(options: IssueOptions): Promise<{ readonly text: string; readonly keyId: string }>
  /** Another node of the same store: on PostgreSQL with connections of its own, else in the same process. By the same transport, if not told otherwise. */
  another(changes?: Pick<TestServiceOptions, 'plainConnections' | 'testKeys'>): Promise<TestNode>
  stop(): Promise<void>
}

export interface TestNode {
  readonly port: number
  /** The address of its metrics. */
  readonly metricsUrl: string
  stop(): Promise<void>
}

export interface IssueOptions {
  readonly label?: string
  readonly grants?: readonly Grant[]
  readonly operator?: boolean
  readonly adminScopes?: readonly AdminScope[]
  readonly networks?: readonly string[]
  readonly expiresMs?: number
  readonly rate?: KeyRate
  readonly reading?: KeyReading
}

/** Rates no test reaches by accident; the tests of the limits set their own. */
const unhurried = { perSecond: 100_000, burst: 1_000_000 }

export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const { engine = 'sqlite', writesOn = 'thisThread', wrap = (storage) => storage } = options
  const catalogue = options.catalogue ?? catalogues.default
  const folder = makeStoreFolder()
  const { url, giveBack } = engine === 'postgres' ? await databaseFor(options) : noDatabase
  const open = (at: string): Promise<StorageEngine> =>
    openStorage({ kind: 'postgres', url: at, readConnections: 4, create: true, catalogue, startSequence: 0 })
  const storage = wrap(
    url === undefined ? await openNewStore(folder, { catalogue, writesOn }) : await open(url),
  )
  const [pepper] = loadPeppers({ folder: undefined, given: undefined })
  const logLines: string[] = []
  const log = createLogger({
    level: 'debug',
    destination: { write: (line: string) => void logLines.push(line) },
  })
  const parts = {
    host: '127.0.0.1',
    port: 0,
    metrics: { host: '127.0.0.1', port: 0 },
    limits: { requests: unhurried, failures: unhurried, ...options.limits },
    ...(options.basePath === undefined ? {} : { basePath: options.basePath }),
    ...(options.trustedProxies === undefined ? {} : { trustedProxies: options.trustedProxies }),
    ...(options.plainConnections === undefined ? {} : { plainConnections: options.plainConnections }),
    ...(options.deprecations === undefined ? {} : { deprecations: options.deprecations }),
    pictures: options.pictures,
    testKeys: options.testKeys ?? false,
    corsOrigins: options.corsOrigins ?? [],
    webhooks: options.webhooks ?? 'off',
    console: options.console,
    erasureList: options.erasureList,
    exportTenant: options.exportTenant,
    ...(options.deletionSettleMs === undefined ? {} : { deletionSettleMs: options.deletionSettleMs }),
    findings: options.findings,
    ...(options.shownSettings === undefined ? {} : { shownSettings: options.shownSettings }),
    maintenanceFreshMs: options.maintenanceFreshMs,
  } as const
  const service = await createService({
    ...parts,
    storage,
    peppers: [pepper],
    log,
    // Beside the store, as `serve` keeps them.
    ...(engine === 'sqlite' ? { pages: { memoryBytes: 2 ** 20, folder, fileBytes: 2 ** 24 } } : {}),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  }).catch(async (error: unknown) => {
    // Otherwise its writer would keep the process of the tests alive.
    await storage.close()
    throw error
  })

  async function issue({ grants = [], operator = false, expiresMs, rate, ...terms }: IssueOptions) {
    const nowMs = options.clock?.() ?? Date.now()
    const actor = 'cli:test' as const
    const request = { label: 'test', operator, grants, expiresMs, nowMs, rate, actor, ...terms }
    const outcome = await issueKey(storage.keys, pepper, request)
    if (outcome.kind !== 'issued') throw new Error(`no key: ${outcome.kind}`)
    return { text: outcome.text, keyId: outcome.record.keyId }
  }

  async function createTenant(name: string): Promise<TestTenant> {
    const tenantId = randomUUID()
    await storage.tenants.createTenant(
      { tenantId, name, createdMs: Date.now(), suspended: false },
      'cli:test',
    )
    const keyWith = async (verb: string) => {
      const wanted = scopes.filter((scope) => scope.endsWith(verb))
      return (await issue({ grants: [{ tenantId, scopes: wanted }] })).text
    }
    return {
      tenantId,
      readKey: await keyWith('read'),
      publishKey: await keyWith('publish'),
      eraseKey: await keyWith('erase'),
    }
  }

  const tenant = await createTenant('First')
  const otherTenant = await createTenant('Second')
  return {
    service,
    url: service.url,
    folder,
    port: Number(new URL(service.url).port),
    storage,
    tenant,
    otherTenant,
    log,
    logLines,
    issue,
    async another(changes = {}) {
      const own = url === undefined ? undefined : await open(url)
      const clock = options.clock === undefined ? {} : { clock: options.clock }
      const node = await createService({
        ...parts,
        ...changes,
        ...clock,
        storage: own ?? storage,
        peppers: [pepper],
        log,
      })
      return {
        port: Number(new URL(node.url).port),
        metricsUrl: node.metricsUrl ?? '',
        async stop() {
          await node.close()
          await own?.close()
        },
      }
    },
    async stop() {
      await service.close()
      await storage.close()
      giveBack()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const noDatabase = { url: undefined, giveBack: (): void => undefined }

/** Where the database is, and what is to be called once the store is closed. */
async function databaseFor({ databaseUrl, catalogue }: TestServiceOptions) {
  if (databaseUrl !== undefined) return { ...noDatabase, url: databaseUrl }
  const databases = await sharedDatabases()
  if (catalogue !== undefined) return { ...noDatabase, url: await databases.create() }
  const schema = await databases.recycled()
  return { url: schema.url, giveBack: () => schema.giveBack() }
}
