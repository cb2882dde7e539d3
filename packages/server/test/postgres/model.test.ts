import { enginesAgree } from '../store/support/agreement.ts'
import { sqliteStores } from '../store/support/stores.ts'
import { postgresStores } from './postgres-stores.ts'

enginesAgree(
  'PostgreSQL and SQLite',
  [sqliteStores('thisThread'), postgresStores()],
  process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 2000 : 40,
)
