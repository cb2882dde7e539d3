import type { EventStore } from '../../src/events/event-log.ts'

/**
 * Deliberately broken: answers with what a preview says and the numbers that ought to come, and commits a moment later,
 * as stores do that flush in the background. For the test that must notice.
 */
export function acknowledgeEarly(events: EventStore): Pick<EventStore, 'append'> {
  let next = 0
  return {
    async append(batches) {
      const previews = await Promise.all(batches.map((batch) => events.preview(batch)))
      const key = batches[0]?.key
      next = Math.max(next, (key && (await events.head(key)))?.position ?? 0)
      setTimeout(() => void events.append(batches), 20)
      return previews.map((preview) => {
        if (preview.kind !== 'stored') return preview
        const lines = preview.events.map((line) => {
          next += 1
          return { ...line, stored: { sequenceNumber: next, createdDate: '' } }
        })
        return { kind: 'stored', events: lines }
      })
    },
  }
}
