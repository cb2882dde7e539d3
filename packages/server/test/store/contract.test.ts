import { storageContract } from './contract.ts'
import { sqliteStores } from './support/stores.ts'

/**
 * Either way each question goes to the writer through a port, as a copy. Three hundred threads take half a minute of processor time to
 * start, so the store with a thread of its own is left to the tests over HTTP, to the models and to the long run.
 */
storageContract('sqlite', sqliteStores('thisThread'))
if (process.env['PROPERTY_EVENTS_TEST_LONG'] === '1') {
  storageContract('sqlite, written on a thread of its own', sqliteStores())
}
