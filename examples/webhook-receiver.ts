/**
 * A website's property table in SQLite, kept by webhooks. Messages come at least once, also long after a later one: what counts is the
 * highest number of each property, so the number is stored in the same transaction as the property, and an older event changes nothing.
 *
 * Needs Node 24 or later, "type": "module" in package.json, and @property-events/client.
 *
 *     WEBHOOK_SECRET=whsec_… PORT=3000 node webhook-receiver.ts website.db
 */
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { InvalidWebhookError, readPropertyPayload, subjectOf, verifyWebhook } from '@property-events/client'
import type { FeedEvent, WebhookMessage } from '@property-events/client'

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env
const [, , file = 'website.db'] = process.argv
const database = new DatabaseSync(file)
database.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA secure_delete = ON;
  CREATE TABLE IF NOT EXISTS property (
    epoch TEXT NOT NULL,
    reference TEXT NOT NULL,
    sequence_number INTEGER NOT NULL,
    -- NULL: not on the website.
    address TEXT,
    PRIMARY KEY (epoch, reference)
  );
`)
const put = database.prepare(`
  INSERT INTO property (epoch, reference, sequence_number, address) VALUES (?, ?, ?, ?)
  ON CONFLICT (epoch, reference) DO UPDATE SET sequence_number = excluded.sequence_number, address = excluded.address
    WHERE excluded.sequence_number > property.sequence_number
`)

/** One statement, so one transaction. */
function apply({ data }: WebhookMessage): void {
  const { epoch, event } = data as { readonly epoch: string; readonly event: FeedEvent }
  const { value: property } = readPropertyPayload(event.payload)
  const isLive = property?.published === true && event.eventTypeShortCode !== 'PropertyUnpublished'
  const address = isLive ? (property.address?.display_address ?? '') : null
  put.run(epoch, subjectOf('property', event), event.sequenceNumber, address)
}

/** A message of the longest event has some 3 MB. */
const mostBytes = 8 * 2 ** 20

async function bodyOf(request: IncomingMessage): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > mostBytes) return undefined
    chunks.push(chunk)
  }
  return Uint8Array.from(Buffer.concat(chunks))
}

/** The status of the answer. Anything but 2xx is tried again. */
async function receive(request: IncomingMessage): Promise<number> {
  const body = await bodyOf(request)
  if (body === undefined) return 413
  try {
    const message = await verifyWebhook({ body, headers: request.headers }, { secrets: secret })
    // Types that come later are none of its business, and no fault.
    if (message.type === 'property.event') apply(message)
    return 204
  } catch (error) {
    if (!(error instanceof InvalidWebhookError)) throw error
    console.error(error.message)
    return 400
  }
}

createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    (error: unknown) => {
      console.error(error)
      response.writeHead(500).end()
    },
  )
}).listen(Number(PORT), '127.0.0.1')
