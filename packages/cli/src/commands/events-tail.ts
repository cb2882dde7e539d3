import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { createClient } from '@property-events/client'
import { addAction, flagNumber, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { addSettings } from '../read-settings.ts'
import { Refusal } from '../refusal.ts'
import { addressFromSettings } from '../service-client.ts'
import { settings } from '../settings.ts'
import { stopSignal } from '../stop-signal.ts'
import { earlierListings } from '../tail/earlier-listings.ts'
import { eventLine } from '../tail/event-line.ts'

/** How often new events are asked for. People cannot read faster, and 1/s is a fiftieth of a key's rate. */
const intervalMs = 1_000
/** Of a longer run nobody reads every line, and each look-up is a request. */
const lookedUpAtMost = 50

export function addTail(events: Command, context: CommandContext): void {
  const command = events
    .command('tail')
    .description('show the last events, and new ones as they come; end with Ctrl+C')
    .option('--feed <feed>', 'property or contact', 'property')
    .option('--type <type>', 'only one category: salesproperty or lettingsproperty')
    .option('--last <number>', 'begin with so many numbers before the last one', '10')
    .option('--no-follow', 'end after the last event there is')
  addNote(
    command,
    'A line has the number, the time (UTC), the type, the address, the price and what changed. For that the service is asked for the ' +
      'version before, unless more than 50 events come at once. Of contacts nothing personal is shown; --json has whole events.',
  )
  addSettings(command, [settings.url, settings.key, settings.keyTenant])
  addAction(command, context, tail)
}

async function tail(invocation: Invocation): Promise<void> {
  const { output, settings: reader, flags } = invocation
  const { feed } = flags
  if (feed !== 'property' && feed !== 'contact') throw new Refusal('--feed must be property or contact.')
  const last = flagNumber(invocation, '--last', { from: 0, to: 999_999_999 }) ?? 0
  const apiEventType = flagText(flags, 'type')
  const client = createClient({ ...addressFromSettings(reader), feed })
  const signal = stopSignal()
  const head = (await client.heads({ signal })).find((one) => one.feed === feed)
  if (head === undefined) throw new Refusal(`The key does not read the ${feed} feed.`)
  const earlier = earlierListings(client)
  for (let after = Math.max(0, head.sequenceNumber - last); !signal.aborted;) {
    const run = await client.after({ after, epoch: head.epoch, apiEventType }, { signal })
    const asks = run.items.length <= lookedUpAtMost
    for (const event of run.items) {
      if (output.json) await output.writeJson(event)
      else {
        const before = await earlier.before(event, { asks })
        earlier.note(event)
        await output.write(`${eventLine(event, before, output.style)}\n`)
      }
    }
    after = run.next
    if (run.next < run.head) continue
    if (flags['follow'] === false) return
    await delay(intervalMs, undefined, { signal }).catch(() => undefined)
  }
}
