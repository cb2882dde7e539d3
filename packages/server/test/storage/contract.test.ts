import { storageContract } from './contract.ts'
import { memoryStores, sqliteStores } from './support/stores.ts'

storageContract('memory', memoryStores())
storageContract('sqlite', sqliteStores())
