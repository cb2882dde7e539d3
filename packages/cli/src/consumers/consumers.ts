/** The consumers of a feed: when each last asked, and what it lacks. */
import type { Command } from 'commander'
import { createClient, InvalidOptionError } from '@property-events/client'
import type { Consumer, Publisher } from '@property-events/client'
import { endpointReason } from '@property-events/protocol'
import { addAction, flagFeed } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { addressFromSettings } from '../service-client.ts'
import { settings } from '../settings/settings.ts'
import { plainText, tableText } from '../terminal-text.ts'

/** A key that inspects nothing gets no further with a tenant's id. */
const needed =
  'Use a key with tenant:inspect, or name the tenant with --key-tenant: an operator key inspects each.'

export function addConsumers(program: Command, context: CommandContext): void {
  const consumers = program
    .command('consumers')
    .description('show the consumers of a feed, and how far behind each is')
  const list = consumers
    .command('list')
    .description('list the keys that can read a feed, and the consumer names they use')
    .option('--feed <feed>', 'property or contact', 'property')
  addNote(
    list,
    'Needs a key with tenant:inspect, or an operator key and --key-tenant. "behind by" counts the events of the view that the ' +
      'consumer has not been sent, and shows the age of the oldest. "live after" is how long half and 95 of 100 of the listings of ' +
      'the last 30 days took from their publication until the consumer reported them live; "not live" counts the others.',
  )
  addSettings(list, [settings.url, settings.key, settings.keyTenant])
  addAction(list, context, listConsumers)
}

async function listConsumers({ output, settings: reader, flags }: Invocation): Promise<void> {
  const feed = flagFeed(flags)
  const client = createClient({ ...addressFromSettings(reader), feed })
  const found = await client.consumers().catch((error: unknown) => {
    throw error instanceof InvalidOptionError ? new Refusal(`${error.message} ${needed}`) : error
  })
  if (output.json) return output.writeJson(found)
  const withTimes = found.consumers.some(({ timeToLive }) => timeToLive !== null)
  const times = withTimes ? ['live after', 'not live'] : []
  const sent = ['view', 'sent up to', 'behind by', 'acknowledged']
  const head = ['key', 'name', 'last request (UTC)', ...sent, ...times, '']
  const rows = found.consumers.flatMap((consumer) => rowsOf(consumer, withTimes))
  return output.write(
    `${publisherText(found.publisher)}\n${tableText(head, rows, 'No key reads this feed.')}`,
  )
}

/** How long its listings take until they are live, and how many are not; empty of a consumer that has reported nothing about them. */
function timeCells({ timeToLive }: Consumer): readonly string[] {
  if (timeToLive === null) return ['', '']
  const { p50Seconds, p95Seconds, notLiveYet, oldestNotLiveAt, neverLive } = timeToLive
  const took = [p50Seconds, p95Seconds].flatMap((seconds) =>
    seconds === null ? [] : [durationText(seconds)],
  )
  const oldest = oldestNotLiveAt === null ? '' : `, oldest ${timeText(oldestNotLiveAt)}`
  return [took.join(', '), `${notLiveYet}${oldest}${neverLive === 0 ? '' : `; ${neverLive} never`}`]
}

function publisherText(publisher: Publisher): string {
  const { lastHeardAt } = publisher
  const last =
    lastHeardAt === null ? 'Nothing has been published yet' : `Last published ${timeText(lastHeardAt)} (UTC)`
  const silence = silenceText(publisher)
  return silence === '' ? `${last}.` : `${last}: ${silence}.`
}

/** Empty if there is nothing to report. */
function silenceText({
  silentSince,
  expectedSeconds,
}: Pick<Publisher, 'silentSince' | 'expectedSeconds'>): string {
  if (silentSince === null) return ''
  const expected = expectedSeconds === null ? '' : `, expected within ${durationText(expectedSeconds)}`
  return `silent since ${timeText(silentSince)}${expected}`
}

function rowsOf(consumer: Consumer, withTimes: boolean): readonly (readonly string[])[] {
  const { keyId, label, name, lastAskedAt, acknowledged, views, webhook } = consumer
  const first = [
    plainText(label === '' ? keyId : label),
    plainText(webhook === null ? (name === 'default' ? '' : name) : `webhook ${webhook.label || name}`),
    lastAskedAt === null ? 'never' : timeText(lastAskedAt),
  ]
  const last = [
    acknowledged === null ? '' : String(acknowledged.sequenceNumber),
    ...(withTimes ? timeCells(consumer) : []),
    stateOf(consumer),
  ]
  if (views.length === 0) return [[...first, '', '', '', ...last]]
  return views.map(({ view, through, lagEvents, lagSeconds }, index) => {
    const behind =
      lagEvents === 0
        ? ''
        : `${lagEvents} ${lagEvents === 1 ? 'event' : 'events'}, ${durationText(lagSeconds)}`
    const own = index === 0 ? [first, last] : [['', '', ''], last.map(() => '')]
    return [...(own[0] ?? []), plainText(view), String(through), behind, ...(own[1] ?? [])]
  })
}

function stateOf(consumer: Consumer): string {
  const { ended, refused, stoppedAfter, webhook } = consumer
  if (webhook !== null) return endpointText(webhook)
  if (ended !== null) return ended
  const refusal = refused === null ? '' : `${plainText(refused.code)} since ${timeText(refused.since ?? '')}`
  const stopped =
    stoppedAfter === null
      ? ''
      : `stops after ${stoppedAfter}: if it knows only event types 0 and 1, create a key for it with --reader wordpress-importer`
  return [silenceText(consumer), refusal, stopped].filter(Boolean).join('; ')
}

/** Empty of one that sends, and has nothing to report. */
function endpointText(endpoint: NonNullable<Consumer['webhook']>): string {
  const { state, reason, since, failingSince, waiting, givenUp } = endpoint
  const why = endpointReason(reason)
  const stopped =
    state === 'enabled'
      ? failingSince && `failing since ${timeText(failingSince)}`
      : `${state}${since === null ? '' : ` since ${timeText(since)}`}${why === undefined ? '' : ` (${why})`}`
  return plainText(
    [stopped, waiting > 0 && `${waiting} waiting`, givenUp > 0 && `${givenUp} given up`]
      .filter(Boolean)
      .join('; '),
  )
}

function timeText(at: string): string {
  return plainText(at.slice(0, 16).replace('T', ' '))
}

function durationText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`
}
