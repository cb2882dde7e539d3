/** A process of its own that opens the store in a folder, making it if need be, and publishes one event. */
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../../src/store/open-storage.ts'
import { draft, tenantA } from './drafts.ts'
import { publish } from './read-back.ts'

const [folder = '', name = ''] = process.argv.slice(2)
await using store = await openStorage({ kind: 'sqlite', folder, create: true, catalogue: catalogues.default })
await store.tenants.createTenant({ tenantId: tenantA, name: 'A', createdMs: 0, suspended: false }, 'cli:test')
await publish(store, [draft({ subject: name, id: name })])
