/** Restricts a contact through a running service, and ends the restriction (PROTOCOL §5.7). */
import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Client, FeedName, Restriction, RestrictionRequest } from '@property-events/client'
import { restrictionReasons } from '@property-events/protocol'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { settings } from '../settings/settings.ts'
import { plainText, tableText } from '../terminal-text.ts'
import { timeText } from '../timestamp-option.ts'
import { openClient, uuidOperand } from './erasures.ts'

const pollIntervalMs = 250

/** `contacts restrict REF`, `contacts unrestrict REF` and `contacts restrictions`. */
export function addRestrictionCommands(contacts: Command, context: CommandContext): void {
  const restrict = contacts
    .command('restrict')
    .description('keep a contact without showing it to anybody, until the restriction ends')
    .argument('<ref>', 'reference of the contact, a UUID')
    .option('--reason <code>', `why: ${restrictionReasons.join(', ')}`, restrictionReasons[0])
    .option('--case <reference>', 'your reference for the case: A-Z, a-z, 0-9 and -, never a person’s name')
    .option('--no-wait', 'return at once, without waiting until no answer shows it')
  addSettings(restrict, [settings.url, settings.key, settings.keyTenant])
  addAction(restrict, context, restrictContact)
  const unrestrict = contacts
    .command('unrestrict')
    .description('show a restricted contact again, as last published')
    .argument('<ref>', 'reference of the contact, a UUID')
    .option('--no-wait', 'return at once, without waiting until earlier events show it, too')
  addSettings(unrestrict, [settings.url, settings.key, settings.keyTenant])
  addAction(unrestrict, context, unrestrictContact)
  const list = contacts
    .command('restrictions')
    .description('list all restrictions that the key may see, including ended ones')
  addSettings(list, [settings.url, settings.key, settings.keyTenant])
  addAction(list, context, listRestrictions)
}

async function restrictContact(invocation: Invocation, [ref = '']: readonly string[]): Promise<void> {
  const { flags } = invocation
  const caseRef = flagText(flags, 'case')
  const request: RestrictionRequest = {
    subjectId: uuidOperand(invocation, ref, 'the reference of a contact'),
    reason: flagText(flags, 'reason') ?? '',
    ...(caseRef === undefined ? {} : { caseRef }),
  }
  const { client, send } = openClient(invocation, 'contact')
  const begun = await send(client.restrict(request))
  return writeWhenDone(invocation, client, begun)
}

async function unrestrictContact(invocation: Invocation, [ref = '']: readonly string[]): Promise<void> {
  const subjectId = uuidOperand(invocation, ref, 'the reference of a contact')
  const { client, send } = openClient(invocation, 'contact')
  const all = await send(Array.fromAsync(client.restrictions()))
  const inForce = all.find((one) => one.subjectId === subjectId && one.endedAt === null)
  if (inForce === undefined) throw new Refusal(`The contact ${subjectId} is not restricted.`)
  const ended = await send(client.endRestriction(inForce.id))
  return writeWhenDone(invocation, client, ended ?? inForce)
}

/** It continues by itself: interrupting the command here stops nothing. */
async function writeWhenDone(
  { flags, output }: Invocation,
  client: Client<FeedName>,
  begun: Restriction,
): Promise<void> {
  let restriction = begun
  const isUnderWay = (): boolean => ['hiding', 'hidden', 'lifting'].includes(restriction.state)
  while (flags['wait'] !== false && isUnderWay()) {
    await delay(pollIntervalMs)
    restriction = (await client.restriction(begun.id)) ?? restriction
  }
  if (output.json) return output.writeJson(restriction)
  const { id, subjectId, state } = restriction
  const words = stateWords[state] ?? 'in a state unknown to this version'
  await output.write(`${plainText(`The contact ${subjectId} is ${words}. Restriction ${id}.`)}\n`)
}

const stateWords: Readonly<Record<string, string>> = {
  hiding: 'removed from consumers; earlier events still show it',
  hidden: 'hidden; nodes may still have earlier pages',
  restricted: 'kept, and no answer shows it',
  lifting: 'published again; earlier events get their payloads back',
  lifted: 'no longer restricted',
  erased: 'erased, which ended the restriction',
}

async function listRestrictions(invocation: Invocation): Promise<void> {
  const { output } = invocation
  const { client, send } = openClient(invocation, 'contact')
  const restrictions = await send(Array.fromAsync(client.restrictions()))
  if (output.json) return output.writeJson(restrictions)
  const rows = restrictions.map(({ id, begunAt, subjectId, reason, state, caseRef }) => {
    return [id, timeText(begunAt), subjectId, reason, state, caseRef ?? '']
  })
  await output.write(
    tableText(['id', 'started (UTC)', 'contact', 'reason', 'state', 'case'], rows, 'No restrictions.'),
  )
}
