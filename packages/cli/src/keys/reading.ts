/** What a new key reads, and in which form: as its options are written (D11, D12, PROTOCOL §3.5). */
import {
  catalogues,
  contactFields,
  contactRoleNames,
  feedNames,
  isNumberingName,
  numberingNames,
} from '@property-events/protocol'
import type { ContactLimits, EventTypeCatalogue, GrantScope, NumberingName } from '@property-events/protocol'
import type { KeyReading } from '@property-events/server'
import type { Command } from 'commander'
import { flagText } from '../command-context.ts'
import { suggest, Refusal } from '../refusal.ts'
import type { SettingReader } from '../settings/setting.ts'
import { plainText } from '../terminal-text.ts'
import { collectWords, readWords, wordsOf } from './key.ts'

export function addReadingOptions(command: Command): Command {
  return command
    .option(
      '--event-types <name>',
      `the numbers of event types in what the key reads: ${numberingNames.join(' or ')}`,
    )
    .option(
      '--current',
      'lists show only the last event of each property or contact, unless a request says otherwise',
    )
    .option(
      '--reference-ids',
      'transactionId is the reference of the property or contact in what the key reads, whatever the publisher sent',
    )
    .option('--reader <name>', `all three as this reader needs them: ${Object.keys(readers).join(', ')}`)
}

/** Public readers that take the feed in a way of their own (docs/wordpress.md). */
const readers: Readonly<Record<string, KeyReading>> = {
  'wordpress-importer': { eventTypes: 'published-0', current: true, references: true },
}

/** `undefined`: in the usual way. */
export function readReading(
  flags: Readonly<Record<string, unknown>>,
  scopes: readonly GrantScope[],
  reader: SettingReader,
): KeyReading | undefined {
  const written = flagText(flags, 'eventTypes')
  const [current, references] = [flags['current'] === true, flags['referenceIds'] === true]
  const named = flagText(flags, 'reader')
  if (written === undefined && named === undefined && !current && !references) return undefined
  if (scopes.length > 0 && !scopes.some((scope) => scope.endsWith(':read')))
    reader.fault(
      '--event-types, --current, --reference-ids and --reader are for keys that read, such as with --scope property:read.',
    )
  const ofReader = named === undefined ? undefined : readerNamed(named, reader)
  const numbering = written === undefined ? undefined : numberingNamed(written, reader)
  const reading = {
    eventTypes: numbering ?? ofReader?.eventTypes,
    current: current || ofReader?.current === true,
  }
  return references || ofReader?.references === true ? { ...reading, references: true } : reading
}

function readerNamed(written: string, reader: SettingReader): KeyReading | undefined {
  const names = Object.keys(readers)
  if (Object.hasOwn(readers, written)) return readers[written]
  reader.fault(
    `--reader is "${plainText(written)}", but must be ${names.join(' or ')}.${suggest(written, names)}`,
  )
  return undefined
}

function numberingNamed(written: string, reader: SettingReader): NumberingName | undefined {
  if (isNumberingName(written)) return written
  const meant = suggest(written, numberingNames)
  reader.fault(
    `--event-types is "${plainText(written)}", but must be ${numberingNames.join(' or ')}.${meant}`,
  )
  return undefined
}

/** What to propose for a key whose label names such a reader; `undefined`: nothing. */
export function proposalFor(label: string, reading: KeyReading | undefined): string | undefined {
  if (
    !/wordpress|importer/i.test(label) ||
    (reading?.eventTypes !== undefined && reading.references === true)
  )
    return undefined
  return (
    'If this key is for the public property importer for WordPress, create it with --reader wordpress-importer: ' +
    'the importer stops at event types other than 0 and 1, and removes nothing whose transactionId is not its reference. ' +
    'Our own plugin needs neither.'
  )
}

/** Throws a `Refusal` if events of the store have a type that the numbering does not know: a reader would stop at its number. */
export function refuseUnknownTypes(catalogue: EventTypeCatalogue, reading: KeyReading | undefined): void {
  const name = reading?.eventTypes
  if (name === undefined) return
  const unknown = feedNames.flatMap((feed) => unknownCodes(catalogue, feed, name))
  if (unknown.length === 0) return
  throw new Refusal(
    `This store has its own event types, for which ${name} has no number: ${unknown.join(', ')}. Create the key without --event-types.`,
  )
}

function unknownCodes(
  catalogue: EventTypeCatalogue,
  feed: keyof EventTypeCatalogue,
  name: NumberingName,
): readonly string[] {
  return Object.keys(catalogue[feed]).filter((code) => !Object.hasOwn(catalogues[name][feed], code))
}

export function addContactOptions(command: Command): Command {
  return command
    .option('--contact-roles <roles>', 'it reads only contacts with one of these roles', collectWords)
    .option(
      '--contact-fields <fields>',
      'it reads only these members of contacts; with --contact-roles alone, all but notes',
      collectWords,
    )
}

/** `undefined`: all contact data. */
export function readContactLimits(
  flags: Readonly<Record<string, unknown>>,
  scopes: readonly GrantScope[],
  reader: SettingReader,
): ContactLimits | undefined {
  const { contactRoles, contactFields: fields } = flags
  if (contactRoles === undefined && fields === undefined) return undefined
  if (!scopes.includes('contact:read'))
    reader.fault(
      '--contact-roles and --contact-fields are for keys that read contacts: add --scope contact:read.',
    )
  return {
    ...(contactRoles !== undefined && {
      roles: readContactWords('--contact-roles', contactRoles, contactRoleNames, reader),
    }),
    ...(fields !== undefined && {
      fields: readContactWords('--contact-fields', fields, contactFields, reader),
    }),
  }
}

function readContactWords<Word extends string>(
  option: string,
  written: unknown,
  allowed: readonly Word[],
  reader: SettingReader,
): readonly Word[] {
  const words = wordsOf(written)
  if (words.length === 0) reader.fault(`${option} is empty; name one or more of ${allowed.join(', ')}.`)
  return readWords(words, allowed, reader, {
    wrong: (word) => `${option} has "${word}", which is not one of them:`,
  })
}
