import { storageContract } from '../storage/contract.ts'
import { postgresStores } from './postgres-stores.ts'

storageContract('PostgreSQL', postgresStores())
