/** All events of a property, read page by page, and those published later. */
import { useEffect, useState } from 'preact/hooks'
import type { FeedEvent } from '@property-events/protocol/wire'
import { call } from '../../service/call.ts'
import { readHistory } from '../../service/operations/feeds.ts'
import type { FeedAddress } from '../../service/operations/feeds.ts'
import type { Failure } from '../../service/failure.ts'

interface History {
  /** Ascending. */
  readonly events: readonly FeedEvent[]
  readonly failure: Failure | undefined
  /** False: earlier ones have arrived, and later ones are still being read. */
  readonly isWhole: boolean
  readonly askAgain: () => void
}

const pageSize = 1_000
/** After the service was away. */
const restMs = 3_000
const nothing = { events: [], failure: undefined, isWhole: false } as const

/**
 * `wanted`: the number of an event that must be included, because another answer has named it. What is there already is not read again:
 * the next request asks for what follows it.
 */
export function useHistory(address: FeedAddress, agentRef: string, wanted: number): History {
  const [held, hold] = useState<Omit<History, 'askAgain'> & { readonly of: string }>({ ...nothing, of: '' })
  const [turn, setTurn] = useState(0)
  const of = `${address.door} ${address.tenantId} ${agentRef}`
  const current = held.of === of ? held : { ...nothing, of }
  const last = current.events.at(-1)?.sequenceNumber ?? 0
  const newer = current.isWhole && wanted > last ? wanted : 0

  useEffect(() => {
    if (current.isWhole && newer === 0) return undefined
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    void readOn(controller.signal)
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
    async function readOn(signal: AbortSignal): Promise<void> {
      let { events } = current
      for (let isWhole = false; !isWhole;) {
        const after = events.at(-1)?.sequenceNumber ?? 0
        const outcome = await call(readHistory(address, agentRef, { after, limit: pageSize }), { signal })
        if (outcome.kind === 'failure') {
          hold({ of, events, failure: outcome.failure, isWhole: false })
          if (outcome.failure.kind === 'away') timer = setTimeout(() => setTurn((turn) => turn + 1), restMs)
        }
        if (outcome.kind !== 'answer') return
        const { items, next, head } = outcome.value
        events = [...events, ...items]
        isWhole = next >= head || items.length === 0
        hold({ of, events, failure: undefined, isWhole })
      }
    }
  }, [of, turn, newer])

  return { ...current, askAgain: () => setTurn((before) => before + 1) }
}
