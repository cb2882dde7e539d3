/** How the contact data of a new key is written on the command line (D11). */
import type { Command } from 'commander'
import { contactFields, contactRoleNames } from '@property-events/protocol'
import type { ContactLimits, GrantScope } from '@property-events/protocol'
import { didYouMean } from '../suggest.ts'
import { gather, wordsOf } from './key-options.ts'
import type { SettingReader } from '../settings/read-settings.ts'
import { plainText } from '../terminal-text.ts'

export function addContactOptions(command: Command): Command {
  return command
    .option('--contact-roles <roles>', 'it reads only contacts with one of these roles', gather)
    .option(
      '--contact-fields <fields>',
      'it reads only these members of contacts; with --contact-roles alone, all but notes',
      gather,
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
      roles: readWords('--contact-roles', contactRoles, contactRoleNames, reader),
    }),
    ...(fields !== undefined && { fields: readWords('--contact-fields', fields, contactFields, reader) }),
  }
}

function readWords<Word extends string>(
  option: string,
  written: unknown,
  allowed: readonly Word[],
  reader: SettingReader,
): readonly Word[] {
  const words = wordsOf(written)
  if (words.length === 0) reader.fault(`${option} is empty; name one or more of ${allowed.join(', ')}.`)
  for (const word of words) {
    if (allowed.some((one) => one === word)) continue
    const meant = didYouMean(word, allowed)
    reader.fault(
      `${option} has "${plainText(word)}", which is not one of them: ${allowed.join(', ')}.${meant}`,
    )
  }
  return allowed.filter((word) => words.includes(word))
}
