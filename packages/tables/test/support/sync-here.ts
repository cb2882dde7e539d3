/** A sync into tables as the command makes it, in the test's own process: a process for each would take most of the time. */
import assert from 'node:assert/strict'
import { createClient } from '@property-events/client'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { keepTables } from '../../src/keep-tables.ts'
import { openTables, readTableTarget } from '../../src/open-tables.ts'
import type { TablePlace } from './places.ts'

export interface Round {
  readonly held: number
  readonly changes: number
  readonly removals: number
  /** Why the whole feed was read again. */
  readonly readAgain: readonly string[]
}

export async function syncHere(
  service: TestService,
  place: Pick<TablePlace, 'target'>,
  { prefix = '', allowMassRemoval = false } = {},
): Promise<Round> {
  const target = readTableTarget(place.target)
  assert.ok(target !== undefined)
  const readAgain: string[] = []
  const onReadAgain = (reason: string) => void readAgain.push(reason)
  const tables = await openTables(target, { prefix, schema: undefined })
  try {
    const onSkipped = () => assert.fail('nothing is left out')
    const keeper = keepTables({ tables, tenant: 'main', category: undefined, onReadAgain, onSkipped })
    const result = await createClient({ baseUrl: service.url, key: service.tenant.readKey }).sync({
      checkpoint: keeper.checkpoint,
      copy: keeper.copy,
      allowMassRemoval,
      onResync: onReadAgain,
      apply: (batch) => keeper.apply(batch),
      onCaughtUp: () => keeper.keep(false),
    })
    return { ...result, held: await tables.count('main'), readAgain }
  } finally {
    await tables.close()
  }
}
