/** How a key reads, if not in the usual way: as written for a new key, and as shown (D12, PROTOCOL §3.5). */
import type { Command } from 'commander'
import { catalogues, feedNames, isNumberingName, numberingNames } from '@property-events/protocol'
import type { EventTypeCatalogue, GrantScope, NumberingName } from '@property-events/protocol'
import type { KeyReading } from '@property-events/server'
import { flagText } from './command-context.ts'
import { didYouMean } from './did-you-mean.ts'
import type { SettingReader } from './read-settings.ts'
import { Refusal } from './refusal.ts'
import { plainText } from './terminal-text.ts'

export function addReadingOptions(command: Command): Command {
  return command
    .option(
      '--event-types <name>',
      `which numbers event types have in what the key reads: ${numberingNames.join(' or ')}`,
    )
    .option(
      '--current',
      'lists show only the last event of each property or contact, unless a request says otherwise',
    )
}

/** `undefined`: in the usual way. */
export function readReading(
  flags: Readonly<Record<string, unknown>>,
  scopes: readonly GrantScope[],
  reader: SettingReader,
): KeyReading | undefined {
  const written = flagText(flags, 'eventTypes')
  const current = flags['current'] === true
  if (written === undefined && !current) return undefined
  if (scopes.length > 0 && !scopes.some((scope) => scope.endsWith(':read')))
    reader.fault('--event-types and --current are for keys that read, such as with --scope property:read.')
  if (written === undefined) return { eventTypes: undefined, current }
  if (isNumberingName(written)) return { eventTypes: written, current }
  const meant = didYouMean(written, numberingNames)
  reader.fault(
    `--event-types is "${plainText(written)}", but must be ${numberingNames.join(' or ')}.${meant}`,
  )
  return undefined
}

/** Throws a `Refusal` if events of the store have a type that the numbering does not know: a reader would stop at its number. */
export function refuseUnknownTypes(catalogue: EventTypeCatalogue, reading: KeyReading | undefined): void {
  const name = reading?.eventTypes
  if (name === undefined) return
  const unknown = feedNames.flatMap((feed) => unknownCodes(catalogue, feed, name))
  if (unknown.length === 0) return
  throw new Refusal(
    `This store has its own event types, for which ${name} has no number: ${unknown.join(', ')}. Make the key without --event-types.`,
  )
}

function unknownCodes(
  catalogue: EventTypeCatalogue,
  feed: keyof EventTypeCatalogue,
  name: NumberingName,
): readonly string[] {
  return Object.keys(catalogue[feed]).filter((code) => !Object.hasOwn(catalogues[name][feed], code))
}

/** In a table; empty: in the usual way. */
export function readingText(reading: KeyReading | undefined): string {
  const words = [reading?.eventTypes, reading?.current === true ? 'current' : undefined]
  return words.filter((word) => word !== undefined).join(', ')
}

export function readingJson(reading: KeyReading | undefined) {
  return { eventTypes: reading?.eventTypes ?? null, current: reading?.current === true }
}
