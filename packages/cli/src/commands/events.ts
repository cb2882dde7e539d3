import type { Command } from 'commander'
import { feeds, parseUuid } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addSettings } from '../read-settings.ts'
import { Refusal } from '../refusal.ts'
import { clientFromSettings, expectSuccess, memberOf, memberText } from '../service-client.ts'
import { settings } from '../settings.ts'
import { jsonText, plainText, tableText } from '../terminal-text.ts'
import { addTail } from './events-tail.ts'

export function addEvents(program: Command, context: CommandContext): void {
  const events = program.command('events').description('read events of a running service')
  addList(events, context)
  addGet(events, context)
  addTail(events, context)
}

function addList(events: Command, context: CommandContext): void {
  const command = events
    .command('list')
    .description('list a page of events')
    .option('--feed <feed>', 'property or contact', 'property')
    .option('--type <type>', 'apiEventType: property, salesproperty or lettingsproperty')
    .option('--from <time>', 'not before this UTC time, such as "2025-01-31 09:00:00"')
    .option('--to <time>', 'not after this UTC time')
    .option('--page <number>', 'page number, from 1')
    .option('--page-size <number>', 'events a page')
  addSettings(command, [settings.url, settings.key])
  addAction(command, context, async ({ output, settings: reader, flags }) => {
    const feed = feedOf(flags)
    const client = clientFromSettings(reader)
    const answer = await client.send({
      method: 'GET',
      path: `${feeds[feed].eventsPath}/getevents`,
      query: {
        apiEventType: flagText(flags, 'type'),
        from: flagText(flags, 'from'),
        to: flagText(flags, 'to'),
        page: flagText(flags, 'page'),
        pageSize: flagText(flags, 'pageSize'),
      },
    })
    const page = expectSuccess(answer)
    if (output.json) return output.writeJson(page)
    const items = memberOf(page, 'items')
    const rows = (Array.isArray(items) ? items : []).map((event: unknown) => [
      cell(event, 'sequenceNumber'),
      cell(event, 'createdDate'),
      cell(event, 'eventType'),
      cell(event, 'eventTypeShortCode'),
      cell(event, 'id'),
      cell(event, 'transactionId'),
    ])
    await output.write(
      tableText(['number', 'created (UTC)', 'type', 'short code', 'id', 'transaction'], rows),
    )
    await output.write(
      `page ${cell(page, 'page')} of ${cell(page, 'totalPages')}, ${cell(page, 'availableCount')} events\n`,
    )
  })
}

function addGet(events: Command, context: CommandContext): void {
  const command = events
    .command('get')
    .description('show one event with its payload')
    .argument('<id>', 'id of the event')
    .option('--feed <feed>', 'property or contact', 'property')
  addSettings(command, [settings.url, settings.key])
  addAction(command, context, async ({ output, settings: reader, flags }, [id = '']) => {
    const feed = feedOf(flags)
    const eventId = parseUuid(id)
    if (eventId === undefined)
      reader.fault(`"${plainText(id.slice(0, 100))}" is not the id of an event, a UUID.`)
    const client = clientFromSettings(reader)
    const path = `${feeds[feed].eventsPath}/geteventbyid/${eventId ?? ''}`
    const event = expectSuccess(await client.send({ method: 'GET', path }))
    if (output.json) return output.writeJson(event)
    for (const name of [
      'sequenceNumber',
      'createdDate',
      'eventType',
      'eventTypeShortCode',
      'id',
      'transactionId',
      'tenantId',
    ]) {
      await output.write(`${name.padEnd(18)} ${cell(event, name)}\n`)
    }
    await output.write(`payload\n${payloadText(memberText(event, 'payload') ?? '')}\n`)
  })
}

function payloadText(payload: string): string {
  try {
    return jsonText(JSON.parse(payload), 2)
  } catch {
    return plainText(payload, { multiline: true })
  }
}

function cell(value: unknown, name: string): string {
  const member = memberOf(value, name)
  return typeof member === 'string' || typeof member === 'number' ? plainText(String(member)) : ''
}

function feedOf(flags: Readonly<Record<string, unknown>>): FeedName {
  const feed = flags['feed']
  if (feed === 'property' || feed === 'contact') return feed
  throw new Refusal(`--feed is "${plainText(String(feed))}", but must be property or contact.`)
}
