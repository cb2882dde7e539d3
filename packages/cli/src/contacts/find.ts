/**
 * Searches all that was ever published about the contacts of one tenant: a person is found by an earlier name or address too. There is no
 * index of personal data, so every payload is read.
 */
import { memberOf, memberText } from '@property-events/protocol'
import type { StorageEngine } from '@property-events/server'
import type { Command } from 'commander'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { changeSettings, findTenant, withStore } from '../open-store.ts'
import { createProgress } from '../progress.ts'
import { addSettings } from '../settings/read-settings.ts'
import { tableText } from '../terminal-text.ts'
import { contactMatcher, searchKinds } from './match.ts'
import type { ContactMatch, ContactMatcher, SearchKind } from './match.ts'

interface FoundContact extends ContactMatch {
  readonly contactRef: string
  /** Of the event that matches best; of several, the latest. */
  readonly sequenceNumber: number
  readonly createdDate: string
}

interface ContactSearch {
  /** Exact matches before similar ones, each contact once. */
  readonly found: readonly FoundContact[]
  /** How many more there are. */
  readonly more: number
  /** How many contacts and events were read. */
  readonly searched: { readonly contacts: number; readonly events: number }
  /** Events whose payloads an erasure or a rule of retention has removed. */
  readonly removedPayloads: number
}

/** About 1 MB; publishers and readers get their turn in between. */
const eventsPerPiece = 250

/** More candidates help nobody to decide. */
const mostShown = 50

async function findContacts(
  storage: Pick<StorageEngine, 'events' | 'restrictions'>,
  tenantId: string,
  matcher: ContactMatcher,
  onProgress: (searched: number) => void,
): Promise<ContactSearch> {
  const key = { tenantId, feed: 'contact' } as const
  const best = new Map<string, FoundContact>()
  const contacts = new Set<string>()
  let [events, removedPayloads] = [0, 0]
  const read = (sequenceNumber: number, event: unknown): void => {
    const payload = payloadOf(event)
    const contactRef = memberText(payload, 'contact_ref') ?? ''
    contacts.add(contactRef)
    if (memberOf(payload, 'erased') === true || memberOf(payload, 'thinned') === true) removedPayloads += 1
    const match = matcher(payload)
    if (match === undefined || match.score < (best.get(contactRef)?.score ?? 0)) return
    best.set(contactRef, {
      contactRef,
      sequenceNumber,
      createdDate: memberText(event, 'createdDate') ?? '',
      ...match,
    })
  }
  for (let after = 0; ;) {
    const piece = await storage.events.readAfter({
      key,
      view: 'all',
      latestOnly: false,
      limit: eventsPerPiece,
      after,
    })
    for (const { sequenceNumber, json } of piece)
      read(sequenceNumber, JSON.parse(Buffer.from(json).toString()))
    events += piece.length
    onProgress(events)
    const last = piece.at(-1)
    if (last === undefined || piece.length < eventsPerPiece) break
    after = last.sequenceNumber
  }
  // What is shown of restricted contacts is nothing, so their kept payloads are searched.
  for (const contactRef of await restrictedContacts(storage, tenantId)) {
    for (const kept of await readKeptEvents(storage, tenantId, contactRef)) read(...kept)
  }
  const found = [...best.values()].sort((a, b) => b.score - a.score || b.sequenceNumber - a.sequenceNumber)
  return {
    found: found.slice(0, mostShown),
    more: Math.max(0, found.length - mostShown),
    searched: { contacts: contacts.size, events },
    removedPayloads,
  }
}

export function payloadOf(event: unknown): unknown {
  const text = memberText(event, 'payload')
  return text === undefined ? undefined : JSON.parse(text)
}

/** By sequence number, the events as they were published. Empty if the contact is not restricted. */
export async function readKeptEvents(
  { restrictions }: Pick<StorageEngine, 'restrictions'>,
  tenantId: string,
  contactRef: string,
): Promise<ReadonlyMap<number, unknown>> {
  const kept = new Map<number, unknown>()
  const key = { tenantId, feed: 'contact' } as const
  for (let after = 0; ;) {
    const piece = await restrictions.kept({ key, subjectId: contactRef, after, limit: eventsPerPiece })
    for (const { sequenceNumber, json } of piece)
      kept.set(sequenceNumber, JSON.parse(Buffer.from(json).toString()))
    after = piece.at(-1)?.sequenceNumber ?? after
    if (piece.length < eventsPerPiece) return kept
  }
}

/** References of the contacts that are restricted now. */
async function restrictedContacts(
  { restrictions }: Pick<StorageEngine, 'restrictions'>,
  tenantId: string,
): Promise<readonly string[]> {
  const contacts: string[] = []
  for (let after: string | undefined; ;) {
    const piece = await restrictions.list(tenantId, after, eventsPerPiece)
    contacts.push(...piece.flatMap(({ subjectId, endedMs }) => (endedMs === undefined ? [subjectId] : [])))
    after = piece.at(-1)?.restrictionId
    if (piece.length < eventsPerPiece) return contacts
  }
}

export function addFind(contacts: Command, context: CommandContext): void {
  const command = contacts
    .command('find')
    .description('find a person among the contacts of a tenant, by any name or address they ever had')
    .requiredOption('--tenant <tenant>', 'id or name of the tenant whose contacts are searched')
    .option('--name <name>', 'a surname, a whole name, or the name of a company')
    .option('--email <address>', 'an e-mail address')
    .option('--phone <number>', 'a telephone number, with or without +44')
    .option('--address <text>', 'a postal address, or a part of it such as the postcode')
  addNote(
    command,
    'Reads every contact event of the tenant, superseded ones included, about ten thousand a second. Case, accents, ' +
      'blanks and punctuation make no difference, and similar spellings are listed as well. The search is recorded, but never whom it was for.',
  )
  addSettings(command, changeSettings)
  addAction(command, context, (invocation) => {
    const { output, settings: reader, flags } = invocation
    const { kind, matcher } = readWanted(invocation)
    return withStore(reader, flags, async (store) => {
      const { tenantId } = await findTenant(store, flagText(flags, 'tenant') ?? '')
      const progress = createProgress(output, 'events searched')
      const search = await findContacts(store.storage, tenantId, matcher, (count) =>
        progress.update(count, undefined),
      )
      progress.end()
      const detail = { by: kind, found: search.found.length + search.more }
      await store.storage.audit.note(
        { action: 'contacts.searched', tenant: tenantId, target: null, detail },
        store.actor,
      )
      if (output.json) return output.writeJson({ ...search, notSearched })
      return output.write(`${tableOf(search)}${scopeOf(kind, search)}`)
    })
  })
}

const notSearched = ['other tenants', 'property events', 'backups', 'the agency’s own system'] as const

function tableOf({ found, more }: ContactSearch): string {
  if (found.length === 0) return 'No match, and nothing similar.\n'
  const rows = found.map(({ contactRef, closeness, text, sequenceNumber, createdDate }) => {
    const shown = text.length > 60 ? `${text.slice(0, 59)}…` : text
    return [contactRef, closeness, shown, String(sequenceNumber), createdDate.slice(0, 19).replace('T', ' ')]
  })
  const table = tableText(['contact', 'match', 'as published', 'event', 'published (UTC)'], rows)
  return more === 0 ? table : `${table}${more} more are less similar.\n`
}

/** What the answer covers, so that nobody takes it for more. */
function scopeOf(kind: SearchKind, { searched, removedPayloads }: ContactSearch): string {
  const where = {
    name: 'names, and mentions of them in every other text,',
    email: 'e-mail addresses in every text',
    phone: 'telephone numbers in every text',
    address: 'postal addresses',
  }[kind]
  const have = removedPayloads === 1 ? 'has' : 'have'
  const removed = removedPayloads === 0 ? '' : ` ${removedPayloads} of them ${have} no payload any more.`
  const others = searchKinds.filter((other) => other !== kind).map((other) => `--${other}`)
  return (
    `Searched: ${where} of ${searched.contacts} contacts in ${searched.events} events, superseded ones included.${removed}\n` +
    `Not searched: ${notSearched.join(', ')}. Try ${others.join(', ')} too.\n`
  )
}

function readWanted({ flags, settings: reader }: Invocation): {
  readonly kind: SearchKind
  readonly matcher: ContactMatcher
} {
  const given = searchKinds.filter((kind) => flagText(flags, kind) !== undefined)
  const [kind = 'email'] = given
  const matcher = contactMatcher(kind, flagText(flags, kind) ?? '')
  if (given.length !== 1)
    reader.fault('Specify what to search for: one of --name, --email, --phone and --address.')
  // The search text identifies a person, so it is not shown.
  else if (matcher === undefined) {
    const format = {
      email: 'an e-mail address',
      phone: 'a telephone number',
      name: 'a name',
      address: 'an address',
    }[kind]
    reader.fault(`The value of --${kind} is not ${format}.`)
  }
  return { kind, matcher: matcher ?? (() => undefined) }
}
