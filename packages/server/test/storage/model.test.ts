import { agreesWithReference } from './support/agreement.ts'
import { sqliteStores } from './support/stores.ts'

agreesWithReference('SQLite', sqliteStores(), process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 2000 : 100)
