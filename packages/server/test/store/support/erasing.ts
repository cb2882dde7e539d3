/** Short ways to erase, and to look for what should be gone. */
import assert from 'node:assert/strict'
import { uuidV7 } from '@property-events/protocol'
import type { Erasure, ErasureRequest, ErasureTarget } from '../../../src/privacy/erasure/erasure.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import type { StoreRecord } from '../../../src/store/store-records.ts'
import { feedKey, uuid } from './drafts.ts'

export function erasureOf(target: ErasureTarget, given: Partial<ErasureRequest> = {}): ErasureRequest {
  return {
    erasureId: uuidV7(Date.now()),
    key: feedKey(),
    target,
    reason: 'data_subject_request',
    caseRef: 'CASE-1',
    receivedOn: '2026-01-02',
    actor: 'key:k',
    closingEventId: uuidV7(Date.now()),
    ...given,
  }
}

export function subject(name: string): ErasureTarget {
  return { kind: 'subject', subjectId: uuid(name) }
}

export async function begin(
  store: StorageEngine,
  target: ErasureTarget,
  given: Partial<ErasureRequest> = {},
): Promise<Erasure> {
  const outcome = await store.erasures.begin(erasureOf(target, given))
  assert.ok(outcome.kind === 'begun', `begun, and not ${outcome.kind}`)
  return outcome.erasure
}

/** All steps of it. Answers how many there were. */
export async function reduceAll(store: StorageEngine, erasureId: string, limit = 100): Promise<number> {
  for (let steps = 0; ; steps += 1) {
    const outcome = await store.erasures.reduce(erasureId, limit)
    if (outcome.kind === 'finished') return steps
    assert.equal(outcome.kind, 'reduced')
  }
}

/** Begins, reduces, and becomes unreachable, since no node lives. */
export async function erase(
  store: StorageEngine,
  target: ErasureTarget,
  given: Partial<ErasureRequest> = {},
  limit = 100,
): Promise<Erasure> {
  const { erasureId, key } = await begin(store, target, given)
  await reduceAll(store, erasureId, limit)
  assert.equal(await store.erasures.acknowledge(erasureId, undefined), 'unreachable')
  const erasure = await store.erasures.find(key.tenantId, erasureId)
  assert.ok(erasure !== undefined)
  return erasure
}

/** Everything the store would hand over, as one text. */
export async function wholeText(store: StorageEngine): Promise<string> {
  const records: StoreRecord[] = []
  await store.exportRecords(
    () => 0,
    async (piece) => void records.push(...piece),
  )
  return JSON.stringify(records, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}
