import { lookup } from 'node:dns/promises'
import type { Command } from 'commander'
import { ConflictError, createClient, subjectOf } from '@property-events/client'
import type { Client, FeedEvent } from '@property-events/client'
import type { FeedName } from '@property-events/protocol'
import { addressCheck, newSecret, receiverAt } from '@property-events/server/webhooks'
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
import { Forwarder } from './forward.ts'
import type { ForwardedTry } from './forward.ts'

export function addListen(program: Command, context: CommandContext): void {
  const command = program
    .command('listen')
    .description('send events to a receiver of yours as signed webhooks, to develop it; stop with Ctrl+C')
    .requiredOption('--forward-to <url>', 'where to, such as http://localhost:3000/hooks')
    .option('--feed <feed>', 'property or contact', 'property')
    .option('--type <type>', 'only one category: salesproperty or lettingsproperty')
    .option(
      '--after <number>',
      'begin after this number, 0 for the whole feed; left out: with the next event',
    )
    .option('--secret <secret>', 'sign with this one, whsec_…; left out: a new one is made and printed')
    .option('--latest', 'leave an event out when a later one of its property is known')
  addNote(
    command,
    'It follows the feed by number, as your receiver would be followed: events of a property one after the other, each until it is ' +
      'answered with 2xx; a refused one again after 5 s, 5 min, 30 min and so on, while other properties go on.',
  )
  addSettings(command, [settings.url, settings.key, settings.keyTenant, settings.consumer])
  addAction(command, context, listen)
}

/** As the service sends by itself. */
const concurrency = 4
const timeoutMs = 15_000

async function listen(invocation: Invocation): Promise<void> {
  const { output, settings: reader, flags } = invocation
  const feed = flagFeed(flags)
  const url = receiverUrl(flagText(flags, 'forwardTo') ?? '')
  const after = flagNumber(invocation, '--after', { from: 0, to: Number.MAX_SAFE_INTEGER })
  const given = flagText(flags, 'secret')
  if (given !== undefined && !/^whsec_[A-Za-z0-9+/]+=*$/.test(given))
    reader.fault('--secret must begin with whsec_ and go on in base64. Leave it out, and a new one is made.')
  const address = readerFromSettings(reader)
  const secret = given ?? newSecret()
  const say = (line: string): void => output.say(line)
  if (given === undefined) say(`Requests are signed with the secret ${secret}`)
  const client: Client<FeedName> = createClient({ ...address, feed, ...outageNotices(address, say, true) })
  const start = { after: after ?? 'head', apiEventType: flagText(flags, 'type') } as const
  await forwardAll(client, feed, start, {
    output,
    url,
    secret,
    mode: flags['latest'] === true ? 'latest' : 'every',
  })
}

function receiverUrl(text: string): URL {
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol)) return url
  throw new Refusal(
    `--forward-to is "${plainText(text.slice(0, 100))}", but must be an address such as http://localhost:3000/hooks.`,
  )
}

interface Forwarding {
  readonly output: Output
  readonly url: URL
  readonly secret: string
  readonly mode: 'every' | 'latest'
}

interface Start {
  readonly after: number | 'head'
  readonly apiEventType: string | undefined
}

/** Until a signal. After a new epoch, as after a restore, with its next event. */
async function forwardAll(
  client: Client<FeedName>,
  feed: FeedName,
  start: Start,
  { output, url, secret, mode }: Forwarding,
): Promise<void> {
  // Whoever read the lines has gone, as after `| head`.
  const unread = new AbortController()
  const signal = AbortSignal.any([stopSignal(), unread.signal])
  const report = reporter(output, () => unread.abort())
  // The receiver is the user's own, wherever it is.
  const check = addressCheck({ allowHttp: true, networks: ['0.0.0.0/0', '::/0'] }, addressesOf)
  let { after } = start
  while (!signal.aborted) {
    const head = (await client.heads({ signal })).find((one) => one.feed === feed)
    if (head === undefined) throw new Refusal(`The key does not read the ${feed} feed.`)
    const from = after === 'head' ? head.sequenceNumber : after
    const forwarder = new Forwarder(
      {
        receiver: receiverAt(url, check, concurrency),
        secrets: [secret],
        mode,
        concurrency,
        timeoutMs,
        report,
      },
      from,
    )
    const stop = () => forwarder.close()
    signal.addEventListener('abort', stop, { once: true })
    try {
      const query = { after: from, epoch: head.epoch, apiEventType: start.apiEventType, signal }
      for await (const { checkpoint: _, ...event } of client.follow(query)) {
        const json = Buffer.from(JSON.stringify(event satisfies FeedEvent))
        const { sequenceNumber } = event
        const subjectId = subjectOf(feed, event)
        await forwarder.add({ feed, epoch: head.epoch, sequenceNumber, subjectId, json })
      }
      return
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
      output.say('The feed has started a new epoch, as after a restore. New events from here on:')
      after = 'head'
    } finally {
      forwarder.close()
      signal.removeEventListener('abort', stop)
    }
  }
}

/** As other programs on this machine find it, hosts file included. */
async function addressesOf(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address)
}

/** One line for each try: the number, the property, what was answered and in what time. */
function reporter(output: Output, unread: () => void): (one: ForwardedTry) => void {
  const { style } = output
  return ({ sequenceNumber, subjectId, answer, tookMs, isAcknowledged }) => {
    const milliseconds = Math.round(tookMs)
    const words = answer.kind === 'answered' ? String(answer.status) : plainText(answer.detail)
    const shown = isAcknowledged ? style.green(words) : style.red(words)
    const written = output.json
      ? output.writeJson({ sequenceNumber, subject: subjectId, isAcknowledged, milliseconds, answer })
      : output.write(`${String(sequenceNumber).padStart(8)}  ${subjectId}  ${shown}  ${milliseconds} ms\n`)
    written.catch(unread)
  }
}
