import { ticksOfMilliseconds } from '@property-events/protocol'
import { createAppendQueue } from '../../../src/publishing/append-queue/append-queue.ts'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { batch, draft } from '../../store/support/drafts.ts'
import { list, parseEvent, receipt } from '../../store/support/read-back.ts'
import type { LoadTarget, SeenEvent } from './load.ts'

/** A feed of an engine, published to through the queue that gathers commits, as the service does. */
export function engineTarget(engine: StorageEngine, key: FeedKey): LoadTarget {
  const queue = createAppendQueue(engine.events)
  return {
    async publish(name, subject) {
      const sent = draft({ subject: `${key.tenantId} ${subject}`, id: name, text: name })
      const outcome = await queue.submit(batch([sent], { key }))
      if (outcome.kind === 'overloaded') throw new Error('overloaded')
      return receipt(outcome)[0]?.stored?.sequenceNumber ?? 0
    },
    async after(number) {
      const query = { key, view: 'all', after: number, limit: 200, latestOnly: false } as const
      return (await engine.events.readAfter(query)).map(({ json }) => seenEvent(parseEvent(json)))
    },
    async since(ms) {
      return (await list(engine, { key, from: ticksOfMilliseconds(ms) })).map(seenEvent)
    },
    async all() {
      return (await list(engine, { key })).map((event) => ({
        ...seenEvent(event),
        subject: event.transactionId,
        appeared: event.eventTypeShortCode === 'PropertyPublished',
        created: event.createdDate,
      }))
    },
  }
}

function seenEvent({
  sequenceNumber,
  payload,
}: {
  readonly sequenceNumber: number
  readonly payload: string
}): SeenEvent {
  const { text }: { text: string } = JSON.parse(payload)
  return { number: sequenceNumber, name: text }
}
