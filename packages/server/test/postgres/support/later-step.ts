/** The steps of a later version of the program, for tests: those of now, and one that has everything that a step can have. */
import { migrations } from '../../../src/store/postgres/migrate.ts'
import type { Migration } from '../../../src/store/postgres/migration-steps.ts'

export const laterStep: Migration = {
  files: [new URL('./later-step.sql', import.meta.url)],
  afterwards: [
    { kind: 'index', name: 'event_branch', on: 'ON event (tenant, feed, branch) WHERE sequence > 0' },
    { kind: 'repeated', name: 'subject_noticed', text: 'SELECT notice_subjects(2) AS done' },
  ],
}

export const laterSteps: readonly Migration[] = [...migrations, laterStep]
