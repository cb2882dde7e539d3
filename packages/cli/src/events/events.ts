import type { Command } from 'commander'
import { ConflictError, createClient } from '@property-events/client'
import type { Client, FeedEvent, FeedHead } from '@property-events/client'
import { parseUuid } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { addAction, flagFeed, flagNumber, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { connectionRefusal, readerFromSettings } from '../service-client.ts'
import { settings } from '../settings/settings.ts'
import { jsonText, plainText, tableText } from '../terminal-text.ts'
import { addEraseEvent } from '../privacy/erasures.ts'
import { addNote } from '../help/help-text.ts'
import type { Output } from '../output.ts'
import { stopSignal } from '../stop-signal.ts'
import { outageNotices } from '../sync/outage.ts'
import { changesIn, earlierListings, eventLines, isNarrow, shownOf } from './event-line.ts'

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
  await output.write(
    tableText(['number', 'created (UTC)', 'type', 'short code', 'id', 'transaction'], rows, 'No events.'),
  )
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

/** Requests for earlier versions per second: nobody reads more lines than this. */
const requestsPerSecond = 50

/** On a narrow terminal a day is above its events, and ends where their times end. */
const dayColumn = 17

function addTail(events: Command, context: CommandContext): void {
  const command = events
    .command('tail')
    .description('show the latest events, then new ones as they come; stop with Ctrl+C')
    .option('--feed <feed>', 'property or contact', 'property')
    .option('--type <type>', 'only one category: salesproperty or lettingsproperty')
    .option('--last <number>', 'start this many numbers before the last one', '10')
    .option('--no-follow', 'stop after the last event, without waiting for new ones')
  addNote(
    command,
    'A line has the number, the time (UTC), the type, the address, the price and what changed; on a narrow terminal what changed ' +
      'is on the line below. To find that, the command requests the version before, unless more than 50 events come in a ' +
      'second. Nothing personal is shown of contacts. --json has whole events, with address, price and phrases in "shown", and pointers and values of what differs in "changes".',
  )
  addSettings(command, [settings.url, settings.key, settings.keyTenant, settings.consumer])
  addAction(command, context, tail)
}

async function tail(invocation: Invocation): Promise<void> {
  const { output, settings: reader, flags } = invocation
  const feed = flagFeed(flags)
  const last = flagNumber(invocation, '--last', { from: 0, to: 999_999_999 }) ?? 0
  const apiEventType = flagText(flags, 'type')
  const address = readerFromSettings(reader)
  const say = (line: string): void => output.say(line)
  const follow = flags['follow'] !== false
  const client: Client<FeedName> = createClient({ ...address, feed, ...outageNotices(address, say, follow) })
  const signal = stopSignal()
  const head = await headOf(client, feed, signal)
  const print = printer(client, output)
  const from = { after: Math.max(0, head.sequenceNumber - last), epoch: head.epoch }
  const there = await printRuns(client, { ...from, apiEventType }, print, signal)
  if (!follow) return
  for (let after: number | 'head' = there, { epoch }: { epoch?: string } = head; !signal.aborted;) {
    try {
      const events = client.follow({
        after,
        epoch,
        apiEventType,
        signal,
        onTrouble: ({ message }) => say(message),
      })
      for await (const { checkpoint: _, ...event } of events) await print(event)
      return
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
      say('The feed has started a new epoch, as after a restore. New events from here on:')
      after = 'head'
      epoch = undefined
    }
  }
}

async function headOf(client: Client<FeedName>, feed: FeedName, signal: AbortSignal): Promise<FeedHead> {
  const head = (await client.heads({ signal })).find((one) => one.feed === feed)
  if (head === undefined) throw new Refusal(`The key does not read the ${feed} feed.`)
  return head
}

interface RunsFrom {
  readonly after: number
  readonly epoch: string
  readonly apiEventType: string | undefined
}

/** Prints everything so far. Resolves with the number up to which that is. */
async function printRuns(
  client: Client<FeedName>,
  from: RunsFrom,
  print: (event: FeedEvent) => Promise<void>,
  signal: AbortSignal,
): Promise<number> {
  for (let { after } = from; ;) {
    const run = await client.after({ ...from, after }, { signal })
    for (const event of run.items) await print(event)
    after = run.next
    if (run.next >= run.head || signal.aborted) return after
  }
}

/** Writes events, each with what was known about its property before. */
function printer(client: Client<FeedName>, output: Output): (event: FeedEvent) => Promise<void> {
  const earlier = earlierListings(client)
  let secondBeganMs = -Infinity
  let requests = 0
  let day = ''
  return async (event) => {
    const nowMs = performance.now()
    if (nowMs - secondBeganMs > 1_000) [secondBeganMs, requests] = [nowMs, 0]
    const before = await earlier.before(event, { readsHistory: requests < requestsPerSecond })
    requests += 1
    earlier.note(event)
    if (!output.json) {
      const { columns = Infinity, style } = output
      const itsDay = isNarrow(columns) ? plainText(event.createdDate.slice(0, 10)) : ''
      if (itsDay !== day) await output.write(`${style.dim(itsDay.padStart(dayColumn))}\n`)
      day = itsDay
      return output.write(`${eventLines(event, before, style, columns)}\n`)
    }
    const shown = shownOf(event, before)
    return output.writeJson(shown === undefined ? event : { ...event, shown, ...changesIn(event, before) })
  }
}
