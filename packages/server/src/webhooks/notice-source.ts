/** Notices about a tenant's other endpoints, for one with `events: operations`: numbered by the store, and about the endpoint as their subject. */
import type { EndpointRecord, Notice, WebhookStore } from './endpoint.ts'
import { noticeMessage } from './message.ts'
import type { MessageSource } from './message-source.ts'

/** They are looked for with each renewal of the lease, and when this node has written one: not again after each look. */
const lookEveryMs = 100
const noticesAtOnce = 1_000

export function noticeSource(
  webhooks: Pick<WebhookStore, 'notices' | 'find'>,
  { endpointId: own, tenantId, settings, progress }: EndpointRecord,
): MessageSource {
  const { feed, format } = settings
  let nextLookMs = 0

  async function after(number: number): Promise<readonly Notice[]> {
    return webhooks.notices({ tenantId, feed, after: number, limit: noticesAtOnce })
  }

  return {
    epoch: progress.epoch,
    hasAfter: () => performance.now() >= nextLookMs,
    async read(from, limit) {
      const found = await after(from)
      const taken = found.slice(0, limit)
      if (taken.length === found.length) nextLookMs = performance.now() + lookEveryMs
      return {
        events: taken
          .filter(({ endpointId }) => endpointId !== own)
          .map(({ noticeNo, endpointId }) => ({ sequenceNumber: noticeNo, subjectId: endpointId })),
        through: taken.at(-1)?.noticeNo ?? from,
      }
    },
    async find(subjectId, from, through) {
      const found = await after(from)
      return found.find((one) => one.endpointId === subjectId && one.noticeNo <= through)?.noticeNo
    },
    async message({ sequenceNumber }, _since, atMs) {
      const notice = (await after(sequenceNumber - 1)).find((one) => one.noticeNo === sequenceNumber)
      if (notice === undefined) return undefined
      const about = await webhooks.find(notice.endpointId)
      const { label = '', url = '' } = about?.settings ?? {}
      return noticeMessage(notice, { tenantId, feed, label, url }, format, atMs)
    },
    onChange: () => undefined,
    forget: () => undefined,
    stop: () => undefined,
  }
}
