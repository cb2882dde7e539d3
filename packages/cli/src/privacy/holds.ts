/** Holds through a running service (PROTOCOL §5.7): what must be kept for a time. */
import type { Command } from 'commander'
import type { Hold, HoldRequest } from '@property-events/client'
import { holdGrounds } from '@property-events/protocol'
import { addAction, flagFeed, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addSettings } from '../settings/read-settings.ts'
import { commandLine } from '../program-name.ts'
import { Refusal } from '../refusal.ts'
import { settings } from '../settings/settings.ts'
import { plainText, tableText } from '../terminal-text.ts'
import { openClient, uuidOperand } from './erasures.ts'

export function addHolds(program: Command, context: CommandContext): void {
  const holds = program
    .command('holds')
    .description('protect properties and contacts from erasure until a day')
  const add = holds
    .command('add')
    .description('put a contact or property on hold')
    .argument('<ref>', 'reference of the contact or property, a UUID')
    .option('--feed <feed>', 'contact or property', 'contact')
    .requiredOption('--ground <ground>', `why: ${holdGrounds.join(', ')}`)
    .requiredOption('--until <day>', 'the last day of the hold (UTC), such as 2027-12-31')
    .option('--case <reference>', 'your reference for the case: A-Z, a-z, 0-9 and -, never a person’s name')
  addSettings(add, [settings.url, settings.key, settings.keyTenant])
  addAction(add, context, addHold)
  const list = holds
    .command('list')
    .description('list all holds that the key may see, including expired ones')
  addSettings(list, [settings.url, settings.key, settings.keyTenant])
  addAction(list, context, listHolds)
  const end = holds
    .command('end')
    .description('end a hold now, so that it no longer prevents an erasure')
    .argument('<id>', 'id of the hold, a UUID')
  addSettings(end, [settings.url, settings.key, settings.keyTenant])
  addAction(end, context, endHold)
}

async function addHold(invocation: Invocation, [ref = '']: readonly string[]): Promise<void> {
  const { flags } = invocation
  const feed = flagFeed(flags)
  const subjectId = uuidOperand(invocation, ref, `the reference of a ${feed}`)
  const caseRef = flagText(flags, 'case')
  const request: HoldRequest = {
    subjectId,
    ground: flagText(flags, 'ground') ?? '',
    until: flagText(flags, 'until') ?? '',
    ...(caseRef === undefined ? {} : { caseRef }),
  }
  const { client, send } = openClient(invocation, feed)
  return writeHold(invocation, await send(client.addHold(request)))
}

async function listHolds(invocation: Invocation): Promise<void> {
  const { output } = invocation
  const { client, send } = openClient(invocation, 'property')
  const holds = await send(Array.fromAsync(client.holds()))
  if (output.json) return output.writeJson(holds)
  const rows = holds.map(({ id, feed, subjectId, ground, until, state, caseRef }) => {
    return [id, feed, subjectId, ground, until, state, caseRef ?? '']
  })
  await output.write(
    tableText(['id', 'feed', 'subject', 'ground', 'until (UTC)', 'state', 'case'], rows, 'No holds.'),
  )
}

async function endHold(invocation: Invocation, [given = '']: readonly string[]): Promise<void> {
  const holdId = uuidOperand(invocation, given, 'the id of a hold')
  const { client, send } = openClient(invocation, 'property')
  const hold = await send(client.endHold(holdId))
  if (hold === undefined)
    throw new Refusal(
      `There is no hold ${holdId} that this key can see. \`${commandLine('holds list')}\` lists the ids of holds.`,
    )
  return writeHold(invocation, hold)
}

const stateWords: Readonly<Record<string, string>> = {
  active: 'on hold until the end of',
  expired: 'no longer on hold, since the end of',
  ended: 'no longer on hold; the hold was to last until the end of',
}

async function writeHold({ output }: Invocation, hold: Hold): Promise<void> {
  if (output.json) return output.writeJson(hold)
  const words = stateWords[hold.state] ?? `${hold.state}, until the end of`
  const what = `The ${hold.feed} ${hold.subjectId} is ${words} ${hold.until} (UTC). Hold ${hold.id}.`
  await output.write(`${plainText(what)}\n`)
}
