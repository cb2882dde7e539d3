import { storageContract } from '../storage/contract.ts'
import { installedPostgresFolders } from './postgres-programs.ts'
import { postgresStores } from './postgres-stores.ts'

storageContract('PostgreSQL', postgresStores())

// In the long run the machine's own as well, where it has one: often an older version, built with other libraries. It takes 80 s.
const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
for (const folder of installedPostgresFolders().slice(0, isLong ? 1 : 0)) {
  storageContract(`PostgreSQL in ${folder}`, postgresStores(folder))
}
