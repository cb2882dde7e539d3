import type { Command } from 'commander'
import { createClient } from '@property-events/client'
import type { Client } from '@property-events/client'
import { parseUuid } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { addAction, flagFeed, flagNumber, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { readerFromSettings, connectionRefusal } from '../service-client.ts'
import { settings } from '../settings/settings.ts'
import { jsonText, plainText, tableText } from '../terminal-text.ts'
import { addEraseEvent } from '../privacy/erasures.ts'
import { addTail } from './tail.ts'

export function addEvents(program: Command, context: CommandContext): void {
  const events = program.command('events').description('read events of a running service, or erase one')
  addList(events, context)
  addGet(events, context)
  addTail(events, context)
  addEraseEvent(events, context)
}

function addList(events: Command, context: CommandContext): void {
  const command = events
    .command('list')
    .description('list a page of events')
    .option('--feed <feed>', 'property or contact', 'property')
    .option('--type <type>', 'apiEventType: property, salesproperty or lettingsproperty')
    .option(
      '--from <time>',
      'not before this time, such as 2025-01-31, "2025-01-31 09:00" (UTC) or 2025-07-01T09:00+01:00',
    )
    .option('--to <time>', 'not after this time; 2025-01-31 includes the whole day')
    .option('--page <number>', 'page number, from 1')
    .option('--page-size <number>', 'events a page')
  addSettings(command, [settings.url, settings.key, settings.keyTenant, settings.consumer])
  addAction(command, context, list)
}

/** The service says which values are allowed. */
const anyNumber = { from: 0, to: 999_999_999 }

async function list(invocation: Invocation): Promise<void> {
  const { output, flags } = invocation
  const query = {
    apiEventType: flagText(flags, 'type'),
    from: flagText(flags, 'from'),
    to: flagText(flags, 'to'),
    page: flagNumber(invocation, '--page', anyNumber),
    pageSize: flagNumber(invocation, '--page-size', anyNumber),
  }
  const page = await requestOnce(invocation, (client) => client.list(query))
  if (output.json) return output.writeJson(page)
  const rows = page.items.map((event) => [
    String(event.sequenceNumber),
    event.createdDate,
    String(event.eventType),
    event.eventTypeShortCode,
    event.id,
    event.transactionId,
  ])
  await output.write(tableText(['number', 'created (UTC)', 'type', 'short code', 'id', 'transaction'], rows))
  return output.write(`page ${page.page} of ${page.totalPages}, ${page.availableCount} events\n`)
}

function addGet(events: Command, context: CommandContext): void {
  const command = events
    .command('get')
    .description('show one event with its payload')
    .argument('<id>', 'id of the event')
    .option('--feed <feed>', 'property or contact', 'property')
  addSettings(command, [settings.url, settings.key, settings.keyTenant, settings.consumer])
  addAction(command, context, get)
}

async function get(invocation: Invocation, [id = '']: readonly string[]): Promise<void> {
  const { output, settings: reader } = invocation
  const eventId = parseUuid(id) ?? ''
  if (eventId === '') reader.fault(`"${plainText(id.slice(0, 100))}" is not the id of an event, a UUID.`)
  const event = await requestOnce(invocation, (client) => client.get(eventId))
  if (event === undefined) throw new Refusal(`The feed has no event with the id ${eventId}.`)
  if (output.json) return output.writeJson(event)
  for (const name of [
    'sequenceNumber',
    'createdDate',
    'eventType',
    'eventTypeShortCode',
    'id',
    'transactionId',
    'tenantId',
  ] as const) {
    await output.write(`${name.padEnd(18)} ${plainText(String(event[name]))}\n`)
  }
  return output.write(`payload\n${payloadText(event.payload)}\n`)
}

/** Without retries, because a person waits for the answer. */
async function requestOnce<Value>(
  { settings: reader, flags }: Invocation,
  request: (client: Client<FeedName>) => Promise<Value>,
): Promise<Value> {
  const feed = flagFeed(flags)
  const address = readerFromSettings(reader)
  try {
    return await request(createClient({ ...address, feed, retry: { attempts: 1 } }))
  } catch (error) {
    throw connectionRefusal(error, address.baseUrl)
  }
}

function payloadText(payload: string): string {
  try {
    return jsonText(JSON.parse(payload), 2)
  } catch {
    return plainText(payload, { multiline: true })
  }
}
