/** Waits until a feed has reached a number (P8), for readers who learnt of the number from another node. */
import type { EventStore, FeedKey, Head } from '../storage/storage.ts'

export type HeadWait =
  | { readonly kind: 'reached'; readonly head: Head }
  /** Not within the time given; `head` is the number that the feed has reached. */
  | { readonly kind: 'behind'; readonly head: Head }
  | { readonly kind: 'unknownFeed' }

/** How often it looks without a notice of a change: the engine's notice may be late, or lost. */
const lookEveryMs = 250

/**
 * Resolves as soon as the feed's head is at `sequenceNumber` or after it, after `timeoutMs` at the latest, and at once
 * when `signal` is aborted. Rejects only with the store's `StorageFailure`.
 */
export async function waitForHead(
  events: EventStore,
  key: FeedKey,
  sequenceNumber: number,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<HeadWait> {
  const giveUpAt = performance.now() + timeoutMs
  let wake = (): void => undefined
  let changed = false
  // Watches before the first look, so that no change is missed between a look and the wait.
  const stop = events.watch((told) => {
    if (told !== undefined && (told.tenantId !== key.tenantId || told.feed !== key.feed)) return
    changed = true
    wake()
  })
  const onAbort = (): void => wake()
  signal?.addEventListener('abort', onAbort)
  try {
    for (;;) {
      changed = false
      const head = await events.head(key)
      if (head === undefined) return { kind: 'unknownFeed' }
      // An empty feed has reached no number, whatever its epoch's offset; but every feed has reached 0.
      const reached = head.position > 0 && head.sequenceNumber >= sequenceNumber
      if (reached || sequenceNumber === 0) return { kind: 'reached', head }
      const leftMs = giveUpAt - performance.now()
      if (leftMs <= 0 || signal?.aborted === true) return { kind: 'behind', head }
      if (changed) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(leftMs, lookEveryMs))
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  } finally {
    stop()
    signal?.removeEventListener('abort', onAbort)
  }
}
