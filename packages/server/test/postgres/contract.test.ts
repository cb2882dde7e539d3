import { storageContract } from '../storage/contract.ts'
import { installedPostgresFolders } from './postgres-programs.ts'
import { postgresStores } from './postgres-stores.ts'

storageContract('PostgreSQL', postgresStores())

// The machine's own as well, where it has one: often an older version, built with other libraries.
for (const folder of installedPostgresFolders().slice(0, 1)) {
  storageContract(`PostgreSQL in ${folder}`, postgresStores(folder))
}
