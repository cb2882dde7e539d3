/** Erases through a running service, and shows the receipts (PROTOCOL §5.7). */
import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { createClient } from '@property-events/client'
import type { Client, Erasure, ErasureRecipient, ErasureRequest, FeedName } from '@property-events/client'
import { erasureReasons, parseUuid } from '@property-events/protocol'
import { addAction, flagFeed, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { commandLine } from '../program-name.ts'
import { createProgress } from '../progress.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { addressFromSettings, connectionRefusal } from '../service-client.ts'
import { settings } from '../settings/settings.ts'
import { plainText, tableText } from '../terminal-text.ts'
import { hoursText, timeText } from '../timestamp-option.ts'

const pollIntervalMs = 250

type Target = Pick<ErasureRequest, 'subjectId' | 'eventId'>

/** `contacts erase REF` and `properties erase REF`. */
export function addEraseSubject(group: Command, context: CommandContext, feed: FeedName): void {
  const command = group
    .command('erase')
    .description(`erase all payloads of a ${feed} from the feed, for good`)
    .argument('<ref>', `reference of the ${feed}, a UUID`)
  addErasureAction(command, context, (invocation, [ref = '']) => {
    const subjectId = uuidOperand(invocation, ref, `the reference of a ${feed}`)
    return eraseTarget(invocation, feed, { subjectId })
  })
}

/** `events erase ID`. */
export function addEraseEvent(events: Command, context: CommandContext): void {
  const command = events
    .command('erase')
    .description('erase the payload of one event from the feed, for good')
    .argument('<id>', 'id of the event')
    .option('--feed <feed>', 'property or contact', 'property')
  addErasureAction(command, context, (invocation, [id = '']) => {
    const feed = flagFeed(invocation.flags)
    return eraseTarget(invocation, feed, { eventId: uuidOperand(invocation, id, 'the id of an event') })
  })
}

function addErasureAction(
  command: Command,
  context: CommandContext,
  action: (invocation: Invocation, operands: readonly string[]) => Promise<void>,
): void {
  command
    .option('--reason <reason>', `why: ${erasureReasons.join(', ')}`, erasureReasons[0])
    .option('--case <reference>', 'your reference for the case: A-Z, a-z, 0-9 and -, never a person’s name')
    .option('--received-on <day>', 'when the request was received, such as 2026-01-31')
    .option('--dry-run', 'count the events without changing anything')
    .option('--no-wait', 'print the receipt at once, without waiting until the payloads are unreachable')
  addSettings(command, [settings.url, settings.key, settings.keyTenant])
  addAction(command, context, action)
}

export function addErasures(program: Command, context: CommandContext): void {
  const erasures = program.command('erasures').description('show receipts of what was erased')
  const list = erasures.command('list').description('list all receipts that the key may see')
  addSettings(list, [settings.url, settings.key, settings.keyTenant])
  addAction(list, context, listReceipts)
  const show = erasures
    .command('show')
    .description('show a receipt')
    .argument('<id>', 'id of the erasure, a UUID')
  addSettings(show, [settings.url, settings.key, settings.keyTenant])
  addAction(show, context, showReceipt)
}

export function uuidOperand({ settings: reader }: Invocation, given: string, what: string): string {
  const id = parseUuid(given)
  if (id === undefined) reader.fault(`"${plainText(given.slice(0, 100))}" is not ${what}, a UUID.`)
  return id ?? ''
}

async function eraseTarget(invocation: Invocation, feed: FeedName, target: Target): Promise<void> {
  const { flags, output } = invocation
  const { client, send } = openClient(invocation, feed)
  const [caseRef, receivedOn] = [flagText(flags, 'case'), flagText(flags, 'receivedOn')]
  const request: ErasureRequest = {
    ...target,
    reason: flagText(flags, 'reason') ?? '',
    ...(caseRef === undefined ? {} : { caseRef }),
    ...(receivedOn === undefined ? {} : { receivedOn }),
  }
  if (flags['dryRun'] === true) {
    const counted = await send(client.countErased(request))
    if (output.json) return output.writeJson(counted)
    return output.write(`${counted.events} events would lose their payloads. Nothing was changed.\n`)
  }
  const begun = await send(client.erase(request))
  output.say(`Started erasure ${begun.id}.`)
  const receipt = flags['wait'] === false ? begun : await waitUntilUnreachable(invocation, client, begun)
  await writeReceipt(invocation, receipt)
}

/** The erasure continues by itself: interrupting the command here stops nothing. */
async function waitUntilUnreachable(
  { output }: Invocation,
  client: Client<FeedName>,
  begun: Erasure,
): Promise<Erasure> {
  let receipt = begun
  const progress = createProgress(output, 'events erased')
  while (receipt.state === 'reducing' || receipt.state === 'reduced') {
    progress.update(receipt.reduced, receipt.events === 0 ? undefined : receipt.reduced / receipt.events)
    await delay(pollIntervalMs)
    receipt = (await client.erasure(begun.id)) ?? receipt
  }
  progress.end()
  return receipt
}

async function listReceipts(invocation: Invocation): Promise<void> {
  const { output } = invocation
  const { client, send } = openClient(invocation, 'property')
  const receipts = await send(Array.fromAsync(client.erasures()))
  if (output.json) return output.writeJson(receipts)
  const rows = receipts.map(({ id, begunAt, feed, state, reduced, events, reason, caseRef }) => {
    return [id, timeText(begunAt), feed, state, `${reduced} of ${events}`, reason, caseRef ?? '']
  })
  await output.write(
    tableText(['id', 'started (UTC)', 'feed', 'state', 'events', 'reason', 'case'], rows, 'No erasures yet.'),
  )
}

async function showReceipt(invocation: Invocation, [given = '']: readonly string[]): Promise<void> {
  const erasureId = uuidOperand(invocation, given, 'the id of an erasure')
  const { client, send } = openClient(invocation, 'property')
  const receipt = await send(client.erasure(erasureId))
  if (receipt === undefined)
    throw new Refusal(
      `There is no receipt ${erasureId} that this key can see. \`${commandLine('erasures list')}\` lists those that it can.`,
    )
  await writeReceipt(invocation, receipt)
}

/** `send` turns a failure into a sentence for the user. */
export function openClient({ settings: reader }: Invocation, feed: FeedName) {
  const address = addressFromSettings(reader)
  const send = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      throw connectionRefusal(error, address.baseUrl)
    })
  return { client: createClient({ ...address, feed }), send }
}

const stateWords: Readonly<Record<string, string>> = {
  reducing: 'in progress: earlier events still have their payloads',
  reduced:
    'the store no longer has the payloads; nodes may still have cached pages (a crashed node counts for one minute)',
  unreachable: 'no row, page or response of the service has the payloads any longer',
  overwritten: 'no response has the payloads, and the free space of the store does not either',
}

async function writeReceipt({ output }: Invocation, receipt: Erasure): Promise<void> {
  if (output.json) return output.writeJson(receipt)
  const { id, feed, subjectId, eventId, reason, caseRef, receivedOn, state, events, reduced } = receipt
  const { closing, begunAt, unreachableAt, overwrittenAt, notCovered } = receipt
  const lines: readonly (readonly [string, string | null | undefined])[] = [
    ['erasure', id],
    [feed, subjectId],
    ['event', eventId],
    ['reason', reason],
    ['case', caseRef],
    ['received on', receivedOn],
    ['state', `${state} (${stateWords[state] ?? 'unknown to this version'})`],
    ['events', `${reduced} of ${events} without their payloads`],
    ['closed by', closing === null ? undefined : `${closing.id}, number ${closing.sequenceNumber}`],
    ['started', utcText(begunAt)],
    ['unreachable', utcText(unreachableAt)],
    ['overwritten', utcText(overwrittenAt)],
  ]
  for (const [name, value] of lines) {
    if (value !== undefined && value !== null) await output.write(`${name.padEnd(12)} ${plainText(value)}\n`)
  }
  await writeRecipients(output, receipt)
  await output.write('not covered\n')
  for (const { code, detail, madeAt = [] } of notCovered) {
    const made = madeAt.map((time) => `\n    ${plainText(timeText(time))} UTC`).join('')
    await output.write(`  ${plainText(code)}: ${plainText(detail)}${made}\n`)
  }
}

async function writeRecipients(
  output: Invocation['output'],
  { recipients, unknownTimes, closing }: Erasure,
): Promise<void> {
  if (recipients === undefined) return
  if (recipients === null) {
    await output.write('recipients   unknown: reads of this feed are not recorded\n')
    return
  }
  await output.write(`recipients${recipients.length === 0 ? '   none' : ''}\n`)
  if (recipients.length > 0) {
    const rows = recipients.map((one) => rowOf(one, closing !== null))
    const head = ['  key', 'label', 'events', 'sent between (UTC)', 'notified (UTC)', 'acknowledged (UTC)']
    await output.write(tableText(head, rows))
  }
  for (const { from, to } of unknownTimes ?? []) {
    await output.write(
      `  Between ${plainText(timeText(from))} and ${plainText(timeText(to))} UTC a node did not report what it sent.\n`,
    )
  }
}

function rowOf(recipient: ErasureRecipient, isClosed: boolean): readonly string[] {
  const { keyId, label, certainty, events, firstSentAt, lastSentAt, toldBy } = recipient
  const toldText = isClosed ? (toldBy === null ? 'not yet' : `by ${timeText(toldBy)}`) : '-'
  const isSent = firstSentAt !== null && lastSentAt !== null
  const hours = isSent ? hoursText(firstSentAt, lastSentAt) : ''
  const sent = certainty === 'sent' ? String(events) : certainty
  return [`  ${keyId}`, label, sent, hours, toldText, isClosed ? acknowledgedText(recipient) : '-']
}

function utcText(time: string | null): string | undefined {
  return time === null ? undefined : `${timeText(time)} UTC`
}

/** For a key with several consumers, also how many have acknowledged. */
function acknowledgedText({ acknowledgedAt, consumers }: ErasureRecipient): string {
  if (acknowledgedAt !== null) return timeText(acknowledgedAt)
  const done = consumers.filter((consumer) => consumer.acknowledgedAt !== null).length
  return done === 0 ? 'not yet' : `${done} of ${consumers.length}`
}
