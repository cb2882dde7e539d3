import { createClient } from '@property-events/client'
import type { Client, FeedEvent } from '@property-events/client'
import { parseUuid, versionChanges } from '@property-events/protocol'
import type { PayloadChange, VersionChanges } from '@property-events/protocol'
import { findProperties, findProperty, searchText } from '@property-events/server'
import type { FoundProperty } from '@property-events/protocol/wire'
import type { StorageEngine } from '@property-events/server'
import type { Command } from 'commander'
import { addAction, agentRefOf, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { findTenant, storeSettings, withStore } from '../open-store.ts'
import { addEraseSubject } from '../privacy/erasures.ts'
import { createProgress } from '../progress.ts'
import { addDuties } from './duties.ts'
import { addTerms } from './terms.ts'
import { Refusal } from '../refusal.ts'
import { addressFromSettings } from '../service-client.ts'
import { addSettings } from '../settings/read-settings.ts'
import { settings } from '../settings/settings.ts'
import { jsonText, plainText, tableText } from '../terminal-text.ts'
import { timeText } from '../timestamp-option.ts'

/** Descriptions have thousands of characters; comparing two of them is a task for another tool. */
const maxValueLength = 100

export function addProperties(program: Command, context: CommandContext): void {
  const properties = program.command('properties').description('show, find or erase a property')
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
  addTerms(properties, context)
  addDuties(properties, context)
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
    const found = versionChanges(previous?.payload, event.payload)
    if (output.json) await output.writeJson({ ...event, ...found })
    else await output.write(versionText(event, found))
    previous = event
  }
  if (previous === undefined) throw unknownProperty(agentRef)
}

function open({ settings: reader }: Invocation, [given = '']: readonly string[]) {
  const agentRef = agentRefOf({ settings: reader }, given)
  const client: Client = createClient(addressFromSettings(reader))
  return { client, agentRef }
}

function unknownProperty(agentRef: string): Refusal {
  return new Refusal(`The feed has no event of the property ${agentRef}.`)
}

function titleOf({ sequenceNumber, createdDate, eventTypeShortCode }: FeedEvent): string {
  return plainText(`${sequenceNumber}  ${timeText(createdDate)} UTC  ${eventTypeShortCode}`)
}

const absentWords = {
  first_version: 'first version',
  erased: 'its payload or the one before was erased',
  thinned: 'its payload or the one before was removed by retention',
  not_an_object: 'its payload or the one before is not a JSON object',
} as const

function versionText(event: FeedEvent, { changes, changesAbsent }: VersionChanges): string {
  const lines = changes?.map(changeLine) ?? [`  ${absentWords[changesAbsent ?? 'first_version']}`]
  if (lines.length === 0) lines.push('  the same payload')
  return `${[titleOf(event), ...lines].join('\n')}\n`
}

function changeLine(change: PayloadChange): string {
  const { pointer, from, to, movedFrom } = change
  const path = plainText(pointer)
  if (movedFrom !== undefined) return `  > ${path}: moved from ${movedFrom}`
  if (!('from' in change)) return `  + ${path}: ${shortened(to)}`
  return 'to' in change
    ? `  ~ ${path}: ${shortened(from)} → ${shortened(to)}`
    : `  - ${path}: ${shortened(from)}`
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value)
  return plainText(text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text)
}

function payloadOf(event: FeedEvent): unknown {
  try {
    return JSON.parse(event.payload)
  } catch {
    return event.payload
  }
}

/** More than a person reads; a longer text finds fewer. */
const mostFound = 200

interface PropertySearch {
  readonly found: readonly FoundProperty[]
  readonly searched: number
  /** There may be more than those found. */
  readonly more: boolean
}

function addFind(properties: Command, context: CommandContext): void {
  const command = properties
    .command('find')
    .description('find properties by a part of an address, postcode or reference')
    .argument('<text>', 'text to search for; or the agent_ref of a property, a UUID')
    .requiredOption('--tenant <tenant>', 'id or name of the tenant whose properties are searched')
  addNote(
    command,
    `Reads the latest payload of every property of the tenant, the newest change first, about ten thousand a second, until ${mostFound} are found. ` +
      'Case, accents, blanks and punctuation make no difference. Removed properties are found, too.',
  )
  addSettings(command, storeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [given = '']) => {
    const text = searchText(given)
    if (text === '') reader.fault('The text to search for must contain a letter or a digit.')
    return withStore(reader, flags, async (store) => {
      const { tenantId } = await findTenant(store, flagText(flags, 'tenant') ?? '')
      const progress = createProgress(output, 'properties searched')
      const result = await find(store.storage, tenantId, given, (searched) => {
        progress.update(searched, undefined)
      })
      progress.end()
      if (output.json) return output.writeJson(result)
      return output.write(resultText(result))
    })
  })
}

async function find(
  { events }: StorageEngine,
  tenantId: string,
  given: string,
  onSearched: (searched: number) => void,
): Promise<PropertySearch> {
  const key = { tenantId, feed: 'property' } as const
  const agentRef = parseUuid(given.trim())
  if (agentRef !== undefined) {
    const property = await findProperty(events, key, agentRef)
    return { found: property === undefined ? [] : [property], searched: 1, more: false }
  }
  const found: FoundProperty[] = []
  let searched = 0
  for (let before: number | undefined; ;) {
    const asked = { key, text: searchText(given), before, limit: mostFound - found.length }
    const step = await findProperties(events, asked, () => performance.now())
    found.push(...step.found)
    searched += step.searched
    onSearched(searched)
    before = step.next
    if (before === undefined || found.length >= mostFound) {
      return { found, searched, more: before !== undefined }
    }
  }
}

function resultText({ found, searched, more }: PropertySearch): string {
  if (found.length === 0) return `No match among ${searched} properties.\n`
  const rows = found.map(
    ({ agentRef, address, postcode, reference, serviceReference, live, createdDate }) => [
      agentRef,
      plainText(address ?? ''),
      plainText(postcode ?? ''),
      plainText(reference ?? serviceReference ?? ''),
      live ? 'live' : 'removed',
      timeText(createdDate),
    ],
  )
  const table = tableText(['property', 'address', 'postcode', 'reference', '', 'changed (UTC)'], rows)
  return more ? `${table}There may be more: search for a longer text.\n` : table
}
