import { storageContract } from '../store/contract.ts'
import { installedPostgresFolders } from './postgres-programs.ts'
import { postgresStores } from './postgres-stores.ts'

storageContract('PostgreSQL', postgresStores())

// In the long run by the role that operators are advised to use, and the machine's own programs, where it has one: often an older version, built with other libraries. Each takes 80 s.
const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
if (isLong)
  storageContract('PostgreSQL by a role with the rights of a node', postgresStores(undefined, 'node'))
for (const folder of installedPostgresFolders().slice(0, isLong ? 1 : 0)) {
  storageContract(`PostgreSQL in ${folder}`, postgresStores(folder))
}
