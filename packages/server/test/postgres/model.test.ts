import { agreesWithReference } from '../storage/support/agreement.ts'
import { postgresStores } from './postgres-stores.ts'

agreesWithReference(
  'PostgreSQL',
  postgresStores(),
  process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 1000 : 40,
)
