/** Keeps a demo changing, and read by consumers. */
import type { Pepper, Publisher, StorageEngine } from '@property-events/server'
import { consumerKeys, runConsumers } from './consumers.ts'
import { runLive } from './run-live.ts'
import type { LiveParts } from './run-live.ts'

interface LiveDemo {
  /** The address of the service. */
  readonly url: string
  readonly storage: StorageEngine
  readonly publisher: Publisher
  /** For the keys of the consumers. */
  readonly pepper: Pepper
  /** The data folder, where those keys are kept. */
  readonly folder: string
  readonly market: LiveParts['market']
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

/** Runs until the signal. */
export async function keepLive(demo: LiveDemo): Promise<void> {
  const { url, storage, publisher, pepper, folder, market, signal, say } = demo
  const consumers = await consumerKeys(folder, storage, pepper)
  await Promise.all([
    runLive({ storage, publisher, market, signal, say }),
    runConsumers({ url, storage, consumers, signal }),
  ])
}
