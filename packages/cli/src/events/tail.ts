import { ConflictError, createClient } from '@property-events/client'
import type { Client, FeedEvent, FeedHead, FeedName } from '@property-events/client'
import type { Command } from 'commander'
import { addAction, flagFeed, flagNumber, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import type { Output } from '../output.ts'
import { Refusal } from '../refusal.ts'
import { readerFromSettings } from '../service-client.ts'
import { addSettings } from '../settings/read-settings.ts'
import { settings } from '../settings/settings.ts'
import { stopSignal } from '../stop-signal.ts'
import { outageNotices } from '../sync/outage.ts'
import { plainText } from '../terminal-text.ts'
import { earlierListings, eventLines, isNarrow, shownOf } from './event-line.ts'

/** Requests for earlier versions per second: nobody reads more lines than this. */
const requestsPerSecond = 50

/** On a narrow terminal a day is above its events, and ends where their times end. */
const dayColumn = 17

export function addTail(events: Command, context: CommandContext): void {
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
      'second. Nothing personal is shown of contacts. --json has whole events, with address, price and changes of properties in "shown".',
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
    return output.writeJson(shown === undefined ? event : { ...event, shown })
  }
}
