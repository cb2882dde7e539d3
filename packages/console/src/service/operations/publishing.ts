/** Publishing, and dry runs (PROTOCOL §4). */
import type { PublishReceipt } from '@property-events/protocol/wire'
import type { FeedName } from '../../base.ts'
import type { Operation } from '../operation.ts'

/** The service's answer; a dry run has no numbers. */
export type Receipt = Pick<PublishReceipt, 'events' | 'warnings'>

const operations = {
  property: { id: 'publishPropertyEvents', path: '/v1/property-events' },
  contact: { id: 'publishContactEvents', path: '/v1/contact-events' },
} as const

/** `text`: JSON of one event or of an array of events. */
export function publish(tenantId: string, feed: FeedName, text: string, isDry: boolean): Operation<Receipt> {
  const query = isDry ? { query: { dryRun: 'true' } } : {}
  return { ...operations[feed], method: 'POST', tenant: tenantId, text, ...query }
}
