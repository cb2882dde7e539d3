import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import { StorageRefusal } from '../../src/sql/storage-errors.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import type { StoreFactory } from '../store/support/stores.ts'
import { afterClosing } from '../support/temporary-store.ts'
import type { StoreOptions } from '../support/temporary-store.ts'
import { asRoleOfNode } from './support/rights-of-node.ts'
import { sharedDatabases, testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

/**
 * PostgreSQL as an engine under test. The server is started when the first store is made. `binFolder`: as in `testDatabases`. `role`: with
 * the rights of a node alone, stores are opened that their owner has made, and what such a role may not do is done by the owner.
 */
export function postgresStores(binFolder?: string, role: 'owner' | 'node' = 'owner'): StoreFactory {
  const isShared = binFolder === undefined && role === 'owner'
  let started: Promise<TestDatabases> | undefined
  const urlOf = new WeakMap<StorageEngine, string>()
  const databases = (): Promise<TestDatabases> =>
    (started ??= isShared ? sharedDatabases() : testDatabases(binFolder))
  const open = async (url: string, options: StoreOptions | undefined, whenClosed?: () => void) => {
    const given = { kind: 'postgres', url, readConnections: 4, create: true } as const
    const opened = await openStorage({ ...given, catalogue: catalogues.default, ...options })
    const store = whenClosed === undefined ? opened : afterClosing(opened, whenClosed)
    urlOf.set(store, url)
    return store
  }
  return {
    async create(options) {
      // What a store is made with is in its schema for good.
      if (options !== undefined && ('catalogue' in options || 'startSequence' in options)) {
        return open(await (await databases()).create(), options)
      }
      const schema = await (await databases()).recycled()
      const giveBack = () => schema.giveBack()
      if (role === 'owner') return open(schema.url, options, giveBack)
      const byNode = await open(await asRoleOfNode(schema.url), options, giveBack)
      const store = helpedBy(() => open(schema.url, options), byNode)
      // Copies are made by the owner.
      urlOf.set(store, schema.url)
      return store
    },
    async copy(store, options) {
      const schema = await (await databases()).copied(urlOf.get(store) ?? '')
      return open(schema.url, options, () => schema.giveBack())
    },
    bytesOfCopy: async (store) => (await databases()).bytesIn(urlOf.get(store) ?? ''),
    async clean() {
      if (!isShared) await (await started)?.[Symbol.asyncDispose]()
    },
  }
}

/** Rewriting the tables and removing rows of the audit are commands for operators: a node is refused, and the tables' owner runs them. */
function helpedBy(asOwner: () => Promise<StorageEngine>, store: StorageEngine): StorageEngine {
  const run = async <T>(command: (by: StorageEngine) => Promise<T>): Promise<T> => {
    try {
      return await command(store)
    } catch (error) {
      if (!(error instanceof StorageRefusal && error.code === 'not_permitted')) throw error
    }
    await using owner = await asOwner()
    return await command(owner)
  }
  return {
    ...store,
    rewrite: () => run((by) => by.rewrite()),
    audit: { ...store.audit, prune: (...given) => run((by) => by.audit.prune(...given)) },
  }
}
