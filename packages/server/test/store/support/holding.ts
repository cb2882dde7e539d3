/** Short ways to put a subject on hold. */
import assert from 'node:assert/strict'
import { uuidV7 } from '@property-events/protocol'
import type { Hold, HoldRequest } from '../../../src/privacy/hold/hold.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { feedKey, uuid } from './drafts.ts'

export function holdOn(name: string, given: Partial<HoldRequest> = {}): HoldRequest {
  return {
    holdId: uuidV7(Date.now()),
    key: feedKey(),
    subjectId: uuid(name),
    ground: 'legal_claim',
    caseRef: 'CASE-1',
    untilMs: Date.parse('2096-01-01T00:00:00Z'),
    actor: 'key:k',
    ...given,
  }
}

export async function hold(
  store: StorageEngine,
  name: string,
  given: Partial<HoldRequest> = {},
): Promise<Hold> {
  const outcome = await store.holds.add(holdOn(name, given))
  assert.ok(outcome.kind === 'added', `added, and not ${outcome.kind}`)
  return outcome.hold
}
