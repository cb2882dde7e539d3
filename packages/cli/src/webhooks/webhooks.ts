/** The webhooks of a tenant: made, shown, tried, sent anew, paused and deleted. */
import type { Command } from 'commander'
import { parseUuid, readWholeNumber, webhookNumbers, webhookOutcomes } from '@property-events/protocol'
import type {
  ChangedWebhook,
  MadeWebhook,
  Webhook,
  WebhookDeliveries,
  WebhookResent,
  Webhooks,
  WebhookTest,
} from '@property-events/protocol/wire'
import { addAction, flagFeed, flagNumber, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import type { Output } from '../output.ts'
import { commandLine } from '../program-name.ts'
import { Refusal } from '../refusal.ts'
import { addressFromSettings } from '../service-client.ts'
import type { ServiceAddress } from '../service-client.ts'
import { addSettings } from '../settings/read-settings.ts'
import { settings } from '../settings/settings.ts'
import { plainText, tableText } from '../terminal-text.ts'
import { askService } from './webhook-request.ts'

export function addWebhooks(program: Command, context: CommandContext): void {
  const webhooks = program
    .command('webhooks')
    .description('have events posted to an address of yours, and see what became of it')
  addCreate(webhooks, context)
  addListing(webhooks, context)
  addOfOne(webhooks, context)
  addReplay(webhooks, context)
}

const needed = 'Needs a key with property:webhooks or contact:webhooks, that of the feed.'

function addCreate(webhooks: Command, context: CommandContext): void {
  const { concurrency, maxPerSecond, timeoutSeconds } = webhookNumbers
  const create = webhooks
    .command('create')
    .description('have the events of a feed posted to an address; its secret is shown once')
    .argument('<url>', 'where to, such as https://www.example.com/hooks')
    .option('--feed <feed>', 'property or contact', 'property')
    .option('--label <text>', 'what it is for')
    .option('--type <type>', 'only one category: salesproperty or lettingsproperty')
    .option(
      '--after <number>',
      'begin after this number, 0 for the whole feed; left out: with the next event',
    )
    .option('--thin', 'without payloads, as the sign to read the feed')
    .option('--changes', 'say also what has changed since the version that was acknowledged last')
    .option('--latest', 'leave an event out when a later one of its property is known')
    .option('--cloudevents', 'each event as a CloudEvent')
    .option('--operations', 'what happens to the other webhooks of the feed, in place of its events')
    .option('--concurrency <number>', `requests at once, ${concurrency.usual} if left out`)
    .option('--per-second <number>', 'requests a second; no limit if left out')
    .option('--timeout <seconds>', `how long an answer may take, ${timeoutSeconds.usual} seconds if left out`)
  addNote(
    create,
    `${needed} Making one needs the feed’s read scope as well: a webhook reads what its key reads.`,
  )
  addService(create)
  addAction(create, context, async (invocation, [url = '']) => {
    const { output, settings: reader, flags } = invocation
    const whole = (option: string, { least, most }: { readonly least: number; readonly most: number }) =>
      flagNumber(invocation, option, { from: least, to: most })
    const body = {
      url,
      feed: flagFeed(flags),
      events: flags['operations'] === true ? 'operations' : undefined,
      label: flagText(flags, 'label'),
      apiEventType: flagText(flags, 'type'),
      after: whole('--after', { least: 0, most: Number.MAX_SAFE_INTEGER }),
      payload: flags['thin'] === true ? 'thin' : undefined,
      changes: flags['changes'] === true ? true : undefined,
      mode: flags['latest'] === true ? 'latest' : undefined,
      format: flags['cloudevents'] === true ? 'cloudevents' : undefined,
      concurrency: whole('--concurrency', concurrency),
      maxPerSecond: whole('--per-second', maxPerSecond),
      timeoutSeconds: whole('--timeout', timeoutSeconds),
    }
    const made = await askService<MadeWebhook>(addressFromSettings(reader), { method: 'POST', body })
    if (output.json) return output.writeJson(made)
    output.say('The secret is shown only now. Give it to your receiver; requests are signed with it.')
    return output.write(`webhook  ${plainText(made.id)}\nsecret   ${plainText(made.secret)}\n`)
  })
}

function addListing(webhooks: Command, context: CommandContext): void {
  const list = webhooks
    .command('list')
    .description('list webhooks: how far each is, what waits, and what was given up')
    .option('--feed <feed>', 'only of one feed: property or contact')
  addNote(list, `${needed} Those that read more than the key are not listed.`)
  addService(list)
  addAction(list, context, async ({ output, settings: reader, flags }) => {
    const feed = flags['feed'] === undefined ? undefined : flagFeed(flags)
    const found = await allOf(addressFromSettings(reader), feed)
    if (output.json) return output.writeJson({ items: found })
    const head = ['webhook', 'feed', 'label', 'address', 'settled up to', 'waiting', 'given up', 'state']
    return output.write(
      tableText(head, found.map(rowOf), `No webhooks. \`${commandLine('webhooks create')}\` makes one.`),
    )
  })

  const deliveries = webhooks
    .command('deliveries')
    .description('list the latest tries of a webhook, with what was answered')
    .argument('<webhook>', 'its id')
    .option('--outcome <outcome>', `only ${webhookOutcomes.join(', ')}`)
    .option('--subject <reference>', 'only of this property or contact')
    .option('--limit <number>', 'how many, up to 1,000', '20')
  addService(deliveries)
  addAction(deliveries, context, async (invocation, [webhook = '']) => {
    const { output, settings: reader, flags } = invocation
    const limit = flagNumber(invocation, '--limit', { from: 1, to: 1_000 })
    const { outcome, subject } = { outcome: flagText(flags, 'outcome'), subject: flagText(flags, 'subject') }
    const found = await askService<WebhookDeliveries>(addressFromSettings(reader), {
      method: 'GET',
      path: `/${idOf(webhook)}/deliveries`,
      query: { outcome, subject, limit: String(limit) },
    })
    if (output.json) return output.writeJson(found)
    const rows = found.items.map((one) => [
      one.at.slice(0, 19).replace('T', ' '),
      one.sequenceNumber === null ? plainText(one.messageId) : String(one.sequenceNumber),
      one.subject ?? '',
      one.outcome,
      one.status === null ? '' : String(one.status),
      `${one.milliseconds} ms`,
      plainText((one.answer ?? '').slice(0, 80)),
    ])
    const head = ['time (UTC)', 'event', 'property', 'outcome', 'status', 'took', 'answer']
    return output.write(tableText(head, rows, 'Nothing was sent within the last 7 days.'))
  })
}

/** Commands that do one thing to one webhook. */
function addOfOne(webhooks: Command, context: CommandContext): void {
  const test = webhooks
    .command('test')
    .description('post one signed message to a webhook’s address, and show the answer')
    .argument('<webhook>', 'its id')
  addService(test)
  addAction(test, context, async ({ output, settings: reader }, [webhook = '']) => {
    const path = `/${idOf(webhook)}/test`
    const result = await askService<WebhookTest>(addressFromSettings(reader), { method: 'POST', path })
    if (result.outcome !== 'acknowledged') context.failed()
    if (output.json) return output.writeJson(result)
    const answer = result.answer === null || result.answer === '' ? '' : `${plainText(result.answer)}\n`
    return output.write(`${plainText(result.detail)} (${result.milliseconds} ms)\n${answer}`)
  })

  const secret = webhooks
    .command('secret')
    .description('make a new secret, which is shown once; the present one signs as well for a time')
    .argument('<webhook>', 'its id')
    .option('--overlap <seconds>', 'how long the present one signs as well', '86400')
  addService(secret)
  addAction(secret, context, async (invocation, [webhook = '']) => {
    const { least: from, most: to } = webhookNumbers.overlapSeconds
    const overlapSeconds = flagNumber(invocation, '--overlap', { from, to })
    const address = addressFromSettings(invocation.settings)
    const path = `/${idOf(webhook)}/secrets`
    const made = await askService<MadeWebhook>(address, { method: 'POST', path, body: { overlapSeconds } })
    return writeSecret(invocation.output, made, made.secret)
  })

  for (const [name, state, does] of [
    ['pause', 'paused', 'send nothing for now; it keeps its place'],
    ['resume', 'enabled', 'send again from where it stood, also after it was disabled'],
  ] as const) {
    const change = webhooks.command(name).description(does).argument('<webhook>', 'its id')
    addService(change)
    addAction(change, context, async ({ output, settings: reader }, [webhook = '']) => {
      const request = { method: 'PATCH', path: `/${idOf(webhook)}`, body: { state } } as const
      const changed = await askService<ChangedWebhook>(addressFromSettings(reader), request)
      if (changed.secret !== undefined) return writeSecret(output, changed, changed.secret)
      if (output.json) return output.writeJson(changed)
      return output.say(`Webhook ${changed.id} is ${stateOf(changed)}, after ${changed.cursor.settled}.`)
    })
  }

  const remove = webhooks
    .command('delete')
    .description('delete a webhook with its log')
    .argument('<webhook>', 'its id')
  addService(remove)
  addAction(remove, context, async ({ output, settings: reader }, [webhook = '']) => {
    const id = idOf(webhook)
    await askService<undefined>(addressFromSettings(reader), { method: 'DELETE', path: `/${id}` })
    return output.json ? output.writeJson({ deleted: id }) : output.say(`Webhook ${id} is deleted.`)
  })
}

function addReplay(webhooks: Command, context: CommandContext): void {
  const replay = webhooks
    .command('replay')
    .description('send events again: all after a number, one, or those that were given up')
    .argument('<webhook>', 'its id')
    .option('--after <number>', 'all after this number, 0 for the whole feed; head: none, only what is new')
    .option('--event <number>', 'the event with this number, and later ones of its property after it')
    .option('--given-up', 'all that were given up')
  addService(replay)
  addAction(replay, context, async (invocation, [webhook = '']) => {
    const { output, settings: reader, flags } = invocation
    const chosen = ['after', 'event', 'givenUp'].filter((name) => flags[name] !== undefined)
    if (chosen.length !== 1)
      reader.fault('Say what is sent again with exactly one of --after, --event and --given-up.')
    const number = flagNumber(invocation, '--event', { from: 1, to: Number.MAX_SAFE_INTEGER })
    const after = flagText(flags, 'after')
    const place = after === 'head' ? after : after === undefined ? undefined : readWholeNumber(after, {})
    if (after !== undefined && place === undefined)
      reader.fault(`--after is "${plainText(after.slice(0, 100))}", but must be a whole number or head.`)
    const address = addressFromSettings(reader)
    const path = `/${idOf(webhook)}`
    if (place !== undefined) {
      const request = { method: 'POST', path: `${path}/cursor`, body: { after: place } } as const
      const moved = await askService<Webhook>(address, request)
      if (output.json) return output.writeJson(moved)
      return output.say(`Webhook ${moved.id} goes on after ${moved.cursor.settled}.`)
    }
    const body = number === undefined ? { givenUp: true } : { sequenceNumber: number }
    const resent = await askService<WebhookResent>(address, { method: 'POST', path: `${path}/resend`, body })
    if (output.json) return output.writeJson(resent)
    const what = resent.properties === 1 ? '1 property' : `${resent.properties} properties`
    return output.say(`Events of ${what} are sent again.`)
  })
}

function addService(command: Command): void {
  addSettings(command, [settings.url, settings.key, settings.keyTenant])
}

function idOf(given: string): string {
  const id = parseUuid(given)
  if (id !== undefined) return id
  throw new Refusal(
    `"${plainText(given.slice(0, 100))}" is not the id of a webhook, a UUID. \`${commandLine('webhooks list')}\` shows them.`,
  )
}

async function allOf(address: ServiceAddress, feed: string | undefined): Promise<readonly Webhook[]> {
  const found: Webhook[] = []
  for (let after: string | undefined; ;) {
    const query = { feed, after }
    const { items, next } = await askService<Webhooks>(address, { method: 'GET', query })
    found.push(...items)
    if (next === null) return found
    after = next
  }
}

function rowOf(webhook: Webhook): readonly string[] {
  const { id, feed, label, url, cursor, waiting, givenUp, events } = webhook
  return [
    id,
    events === 'operations' ? `${feed}, operations` : feed,
    plainText(label),
    plainText(url),
    String(cursor.settled),
    String(waiting),
    String(givenUp),
    stateOf(webhook),
  ]
}

function stateOf({ state, reason, failingSince }: Webhook): string {
  if (state !== 'enabled') return plainText(reason === null ? state : `${state} (${reason})`)
  return failingSince === null
    ? state
    : `failing since ${plainText(failingSince.slice(0, 16).replace('T', ' '))}`
}

function writeSecret(output: Output, made: Webhook, secret: string): Promise<void> {
  if (output.json) return output.writeJson(made)
  output.say('The secret is shown only now.')
  return output.write(`webhook  ${plainText(made.id)}\nsecret   ${plainText(secret)}\n`)
}
