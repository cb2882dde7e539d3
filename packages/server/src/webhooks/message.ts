/** The messages that webhooks carry, as Standard Webhooks has them. */
import type { FeedName } from '@property-events/protocol'
import { signature } from './secret.ts'

/** An event in its feed. */
export interface DeliveredEvent {
  readonly feed: FeedName
  readonly epoch: string
  readonly sequenceNumber: number
  /** As the feed has it: a JSON object, UTF-8. */
  readonly json: Uint8Array
}

/** The same whenever the event is sent, also after a crash and by another node. */
export function messageId({
  epoch,
  sequenceNumber,
}: Pick<DeliveredEvent, 'epoch' | 'sequenceNumber'>): string {
  return `msg_${epoch}_${sequenceNumber}`
}

/** The body: the event byte for byte as the feed has it. `atMs`: when it is sent. */
export function eventMessage({ feed, epoch, json }: DeliveredEvent, atMs: number): Uint8Array {
  const timestamp = new Date(atMs).toISOString()
  const head = JSON.stringify({ type: `${feed}.event`, timestamp, data: { feed, epoch } })
  // Before the two braces that end it.
  return Buffer.concat([Buffer.from(`${head.slice(0, -2)},"event":`), json, messageEnd])
}

const messageEnd = Buffer.from('}}')

/** The headers of a try. Each is signed anew, so a receiver may refuse what is old. */
export function messageHeaders(
  id: string,
  body: Uint8Array,
  secrets: readonly string[],
  atMs: number,
): Readonly<Record<string, string>> {
  const seconds = Math.floor(atMs / 1_000)
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'property-events',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signature(secrets, { id, seconds, body }),
  }
}
