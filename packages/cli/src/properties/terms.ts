/** On which terms a property was advertised at a moment, and what is recorded of where: as text, JSON or a page to print. */
import type { Command } from 'commander'
import { createClient } from '@property-events/client'
import { nameOf, propertyCodeLists } from '@property-events/client/listing'
import type { PropertyTerms } from '@property-events/client'
import { parseWindowBound } from '@property-events/protocol'
import { addAction, agentRefOf, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { Refusal } from '../refusal.ts'
import { addressFromSettings } from '../service-client.ts'
import { addSettings } from '../settings/read-settings.ts'
import { settings } from '../settings/settings.ts'
import { plainText } from '../terminal-text.ts'
import { pastTimeHelp, readDuration, timeText } from '../timestamp-option.ts'
import { termsPage } from './terms-page.ts'
import type { TermsSection } from './terms-page.ts'

export function addTerms(properties: Command, context: CommandContext): void {
  const command = properties
    .command('terms')
    .description('show on which terms a property was advertised at a moment, and what is recorded of where')
    .argument('<agent-ref>', 'reference of the property, a UUID')
    .option('--at <time>', `the moment: ${pastTimeHelp}; a day means its end (default: now)`)
    .option('--html', 'print a page of HTML, to be printed on A4')
  addNote(
    command,
    'A key that publishes sees every consumer of its tenant, a key that reads sees itself, and an operator key every consumer of the ' +
      'tenant that --key-tenant names. Times are UTC. What an erasure or retention has taken, or was never recorded, is named as such.',
  )
  addSettings(command, [settings.url, settings.key, settings.keyTenant])
  addAction(command, context, showTerms)
}

async function showTerms(invocation: Invocation, [given = '']: readonly string[]): Promise<void> {
  const { output, settings: reader, flags } = invocation
  const agentRef = agentRefOf(invocation, given)
  const at = readMoment(invocation)
  const client = createClient(addressFromSettings(reader))
  const terms = await client.terms(agentRef, at === undefined ? {} : { at })
  if (terms === undefined) throw new Refusal(`The feed has no event of the property ${agentRef}.`)
  if (output.json) return output.writeJson(terms)
  await output.write(flags['html'] === true ? termsPage(terms, sectionsOf(terms)) : termsText(terms))
}

/** As the service takes it. */
function readMoment({ settings: reader, flags }: Invocation): string | undefined {
  const text = flagText(flags, 'at')
  if (text === undefined) return undefined
  const agoMs = readDuration(text)
  if (agoMs !== undefined) return new Date(Date.now() - agoMs).toISOString()
  if (parseWindowBound('to', text) === undefined)
    reader.fault(`--at is "${plainText(text.slice(0, 100))}", but must be ${pastTimeHelp}.`)
  return text
}

function termsText(terms: PropertyTerms): string {
  const sections = sectionsOf(terms).map(({ title, rows }) => {
    const width = Math.max(...rows.map(([name]) => name.length))
    const lines = rows.map(([name, words]) => `  ${plainText(name).padEnd(width)}  ${plainText(words)}`)
    return `\n${title}\n${lines.join('\n')}\n`
  })
  return `${plainText(terms.sentence)}\n${sections.join('')}`
}

function sectionsOf({ event, terms, material, consumers, ...about }: PropertyTerms): readonly TermsSection[] {
  const sections: TermsSection[] = [
    {
      title: 'Event',
      rows: [
        ['property', about.agentRef],
        ...(event === null
          ? []
          : ([
              ['event', event.id],
              ['number', String(event.sequenceNumber)],
              ['createdDate', event.createdDate],
            ] as const)),
        ['recorded from', `${timeText(about.recordedFrom)} UTC`],
      ],
    },
  ]
  if (terms !== null) sections.push({ title: 'Terms', rows: termsRows(terms) })
  if (material !== null) {
    const rows = material.map(
      ({ name, stated, values }) => [name, stated ? valuesText(values) : 'not stated'] as const,
    )
    sections.push({ title: 'Material information', rows })
  }
  if (consumers.length > 0) {
    const rows = consumers.map(({ label, keyId, name, sentence }) => {
      const key = label === '' ? keyId : label
      return [name === 'default' ? key : `${key} ${name}`, sentence] as const
    })
    sections.push({ title: 'Consumers', rows })
  }
  return sections
}

function termsRows(terms: NonNullable<PropertyTerms['terms']>): TermsSection['rows'] {
  const coded = (value: number | null, pointer: keyof typeof propertyCodeLists) =>
    value === null ? 'not stated' : valueText(pointer, value)
  const pounds = (value: number | null) =>
    value === null ? 'not stated' : `£${value.toLocaleString('en-GB')}`
  const months = (value: number | null) => (value === null ? 'not stated' : `${value} months`)
  return [
    ['status', coded(terms.status, '/status')],
    ['price', pounds(terms.price)],
    ['price qualifier', coded(terms.priceQualifier, '/price_information/price_qualifier')],
    ['qualifier in words', terms.priceQualifierText ?? 'not stated'],
    ['rent frequency', coded(terms.rentFrequency, '/price_information/rent_frequency')],
    ['deposit', pounds(terms.deposit)],
    ['contract', months(terms.contractMonths)],
    ['minimum term', months(terms.minimumTerm)],
  ]
}

function valuesText(values: readonly { readonly pointer: string; readonly value: unknown }[]): string {
  return values
    .filter(({ value }) => value !== null)
    .map(({ pointer, value }) => {
      const items: readonly unknown[] = Array.isArray(value) ? value : [value]
      const place = Array.isArray(value) ? `${pointer}/*` : pointer
      return items.map((item) => valueText(place, item)).join(', ')
    })
    .join('; ')
}

/** A code with its name, a room by its name, and anything else as it is written in JSON. */
function valueText(pointer: string, value: unknown): string {
  const lists: Readonly<Record<string, (typeof propertyCodeLists)[keyof typeof propertyCodeLists]>> =
    propertyCodeLists
  const list = lists[pointer]
  const isCode = typeof value === 'number' || typeof value === 'string'
  const name = list === undefined || !isCode ? undefined : nameOf(list, value)
  if (name !== undefined) return `${name} (${String(value)})`
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
