/** The steps of a later version of the program, for tests. */
import { migrations } from '../../../src/store/sqlite/migrate.ts'

export const laterSteps: readonly URL[] = [...migrations, new URL('./later-step.sqlite.sql', import.meta.url)]
