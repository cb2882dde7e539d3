/** Readers of all property feeds that have stopped at the first event type that they do not know (`stopped-reader.ts`). */
import type { StorageEngine } from '../store/storage.ts'
import { listConsumers } from './list-consumers.ts'
import { mayHaveStopped } from './stopped-reader.ts'

export interface StoppedReader {
  readonly tenantName: string
  readonly keyId: string
  /** The label of the key. */
  readonly label: string
  /** The number after which it has stopped. */
  readonly after: number
}

type Store = Pick<
  StorageEngine,
  'consumers' | 'events' | 'keys' | 'leaving' | 'settings' | 'silence' | 'tenants'
>

/** Events are read only of feeds in whose records there can be such a reader. */
export async function stoppedReaders(store: Store, nowMs: number): Promise<readonly StoppedReader[]> {
  const found: StoppedReader[] = []
  for (const { tenantId, name: tenantName } of await store.tenants.tenants()) {
    const key = { tenantId, feed: 'property' } as const
    if (!mayHaveStopped(await store.consumers.readings(key))) continue
    const query = { key, keyId: undefined, branches: undefined, nowMs }
    for (const { consumer, stoppedAfter: after } of (await listConsumers(store, query)) ?? []) {
      if (after !== undefined) found.push({ tenantName, keyId: consumer.keyId, label: consumer.label, after })
    }
  }
  return found
}
