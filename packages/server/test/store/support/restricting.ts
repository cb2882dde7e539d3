/** Short ways to restrict a contact, and to lift that. */
import assert from 'node:assert/strict'
import { uuidV7 } from '@property-events/protocol'
import type { Restriction, RestrictionRequest } from '../../../src/privacy/restriction/restriction.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { feedKey, tenantA, uuid } from './drafts.ts'

export const contacts = feedKey(tenantA, 'contact')

export function restrictionOf(name: string, given: Partial<RestrictionRequest> = {}): RestrictionRequest {
  return {
    restrictionId: uuidV7(Date.now()),
    key: contacts,
    subjectId: uuid(name),
    reason: 'accuracy_contested',
    caseRef: 'CASE-1',
    actor: 'key:k',
    closingEventId: uuidV7(Date.now()),
    ...given,
  }
}

export async function beginRestriction(
  store: StorageEngine,
  name: string,
  given: Partial<RestrictionRequest> = {},
): Promise<Restriction> {
  const outcome = await store.restrictions.begin(restrictionOf(name, given))
  assert.ok(outcome.kind === 'restricted', `restricted, and not ${outcome.kind}`)
  return outcome.restriction
}

/** All steps of it. Answers how many there were. */
export async function stepAll(store: StorageEngine, restrictionId: string, limit = 100): Promise<number> {
  for (let steps = 0; ; steps += 1) {
    const outcome = await store.restrictions.step(restrictionId, limit)
    if (outcome.kind === 'finished') return steps
    assert.equal(outcome.kind, 'reduced')
  }
}

/** Begins, hides, and is in force, since no node lives. */
export async function restrict(store: StorageEngine, name: string, limit = 100): Promise<Restriction> {
  const { restrictionId } = await beginRestriction(store, name)
  await stepAll(store, restrictionId, limit)
  assert.equal(await store.restrictions.acknowledge(restrictionId, undefined), 'restricted')
  return stateOf(store, restrictionId)
}

export async function beginLifting(store: StorageEngine, restrictionId: string): Promise<Restriction> {
  const reopeningEventId = uuidV7(Date.now())
  const asked = { tenantId: tenantA, restrictionId, actor: 'key:other', reopeningEventId } as const
  const outcome = await store.restrictions.lift(asked)
  assert.ok(outcome.kind === 'lifting', `lifting, and not ${outcome.kind}`)
  return outcome.restriction
}

export async function lift(store: StorageEngine, restrictionId: string, limit = 100): Promise<Restriction> {
  await beginLifting(store, restrictionId)
  await stepAll(store, restrictionId, limit)
  return stateOf(store, restrictionId)
}

export async function stateOf(store: StorageEngine, restrictionId: string): Promise<Restriction> {
  const restriction = await store.restrictions.find(tenantA, restrictionId)
  assert.ok(restriction !== undefined)
  return restriction
}

/** Texts of what is kept of a contact. */
export async function keptTexts(store: StorageEngine, name: string): Promise<readonly unknown[]> {
  const kept = await store.restrictions.kept({
    key: contacts,
    subjectId: uuid(name),
    after: 0,
    limit: 1_000,
  })
  return kept.map(({ json }) => {
    const event = JSON.parse(Buffer.from(json).toString()) as { readonly payload: string }
    return (JSON.parse(event.payload) as { readonly text?: unknown }).text
  })
}
