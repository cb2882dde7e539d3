import type { Command } from 'commander'
import { createClient } from '@property-events/client'
import type { Client, FeedEvent } from '@property-events/client'
import { parseUuid } from '@property-events/protocol'
import { addAction } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { payloadChanges } from './payload-changes.ts'
import type { PayloadChange } from './payload-changes.ts'
import { addSettings } from '../settings/read-settings.ts'
import { commandLine } from '../program-name.ts'
import { Refusal } from '../refusal.ts'
import { addressFromSettings } from '../service-client.ts'
import { settings } from '../settings/settings.ts'
import { addEraseSubject } from '../privacy/erasures.ts'
import { addFind } from './find.ts'
import { jsonText, plainText } from '../terminal-text.ts'

/** Descriptions have thousands of characters; comparing two of them is a task for another tool. */
const maxValueLength = 100

export function addProperties(program: Command, context: CommandContext): void {
  const properties = program
    .command('properties')
    .description('look one property up in a running service, find one in the store, or erase it')
  const get = properties
    .command('get')
    .description('show a property as it is now')
    .argument('<agent-ref>', 'reference of the property, a UUID')
  addSettings(get, [settings.url, settings.key, settings.keyTenant])
  addAction(get, context, showLatest)
  const history = properties
    .command('history')
    .description('show every version of a property, and what changed from one to the next')
    .argument('<agent-ref>', 'reference of the property, a UUID')
  addSettings(history, [settings.url, settings.key, settings.keyTenant])
  addAction(history, context, showHistory)
  addFind(properties, context)
  addEraseSubject(properties, context, 'property')
}

async function showLatest(invocation: Invocation, operands: readonly string[]): Promise<void> {
  const { output } = invocation
  const { client, agentRef } = open(invocation, operands)
  const event = await client.subject(agentRef)
  if (event === undefined) throw unknownProperty(agentRef)
  if (output.json) return output.writeJson(event)
  await output.write(`${titleOf(event)}\n${jsonText(payloadOf(event), 2)}\n`)
}

async function showHistory(invocation: Invocation, operands: readonly string[]): Promise<void> {
  const { output } = invocation
  const { client, agentRef } = open(invocation, operands)
  let previous: FeedEvent | undefined
  for await (const event of client.history(agentRef)) {
    const changes = previous === undefined ? [] : payloadChanges(payloadOf(previous), payloadOf(event))
    if (output.json) await output.writeJson({ ...event, changes: previous === undefined ? null : changes })
    else await output.write(versionText(event, previous === undefined ? undefined : changes))
    previous = event
  }
  if (previous === undefined) throw unknownProperty(agentRef)
}

function open({ settings: reader }: Invocation, [given = '']: readonly string[]) {
  const agentRef = parseUuid(given)
  if (agentRef === undefined) {
    reader.fault(
      `"${plainText(given.slice(0, 100))}" is not the reference of a property, a UUID. \`${commandLine('reference')}\` makes one from a reference of your own.`,
    )
  }
  const client: Client = createClient(addressFromSettings(reader))
  return { client, agentRef: agentRef ?? '' }
}

function unknownProperty(agentRef: string): Refusal {
  return new Refusal(`The feed has no event of the property ${agentRef}.`)
}

function titleOf({ sequenceNumber, createdDate, eventTypeShortCode }: FeedEvent): string {
  return plainText(
    `${sequenceNumber}  ${createdDate.slice(0, 19).replace('T', ' ')} UTC  ${eventTypeShortCode}`,
  )
}

function versionText(event: FeedEvent, changes: readonly PayloadChange[] | undefined): string {
  const lines = changes === undefined ? ['  first version'] : changes.map(changeLine)
  if (lines.length === 0) lines.push('  the same payload')
  return `${[titleOf(event), ...lines].join('\n')}\n`
}

function changeLine(change: PayloadChange): string {
  const path = plainText(change.path)
  const value = shortened(change.value)
  if (change.kind === 'changed') return `  ~ ${path}: ${shortened(change.before)} → ${value}`
  return `  ${change.kind === 'added' ? '+' : '-'} ${path}: ${value}`
}

function shortened(value: string): string {
  return plainText(value.length > maxValueLength ? `${value.slice(0, maxValueLength)}…` : value)
}

function payloadOf(event: FeedEvent): unknown {
  try {
    return JSON.parse(event.payload)
  } catch {
    return event.payload
  }
}
