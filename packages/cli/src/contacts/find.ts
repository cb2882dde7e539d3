/** Searches the latest payloads of one tenant's contacts. There is no index of personal data for this. */
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

interface FoundContact {
  readonly contactRef: string
  /** The number of its latest event. */
  readonly sequenceNumber: number
  readonly createdDate: string
}

interface ContactSearch {
  readonly found: readonly FoundContact[]
  /** How many contacts were looked at. */
  readonly searched: number
}

/** About 1 MB; publishers and readers get their turn in between. */
const contactsPerPiece = 250

async function findContacts(
  storage: Pick<StorageEngine, 'events' | 'restrictions'>,
  tenantId: string,
  matches: ContactMatch,
  onProgress: (searched: number) => void,
): Promise<ContactSearch> {
  const key = { tenantId, feed: 'contact' } as const
  const query = { key, view: 'all', limit: contactsPerPiece, latestOnly: true } as const
  const found: FoundContact[] = []
  let searched = 0
  for (let after = 0; ;) {
    const piece = await storage.events.readAfter({ ...query, after })
    for (const { sequenceNumber, json } of piece) {
      found.push(...match(sequenceNumber, JSON.parse(Buffer.from(json).toString()), matches))
    }
    searched += piece.length
    onProgress(searched)
    const last = piece.at(-1)
    if (last === undefined || piece.length < contactsPerPiece) break
    after = last.sequenceNumber
  }
  // What is shown of restricted contacts is nothing, so their kept payloads are searched.
  for (const contactRef of await restrictedContacts(storage, tenantId)) {
    const latest = [...(await readKeptEvents(storage, tenantId, contactRef))].at(-1)
    if (latest !== undefined) found.push(...match(...latest, matches))
  }
  return { found, searched }
}

function match(sequenceNumber: number, event: unknown, matches: ContactMatch): readonly FoundContact[] {
  const payload = payloadOf(event)
  if (!matches(payload)) return []
  const createdDate = memberText(event, 'createdDate') ?? ''
  return [{ contactRef: memberText(payload, 'contact_ref') ?? '', sequenceNumber, createdDate }]
}

export function payloadOf(event: unknown): unknown {
  const text = memberText(event, 'payload')
  return text === undefined ? undefined : JSON.parse(text)
}

const eventsPerPiece = 250

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

const searchKinds = ['email', 'phone', 'name'] as const

export type SearchKind = (typeof searchKinds)[number]

type ContactMatch = (payload: unknown) => boolean

/** `undefined`: the text cannot be of this kind. */
export function contactMatch(kind: SearchKind, text: string): ContactMatch | undefined {
  if (kind === 'name') {
    const name = normalizedName(text)
    return name === '' ? undefined : (payload) => namesOf(payload).includes(name)
  }
  const wanted = kind === 'email' ? normalizedEmail(text) : normalizedPhone(text)
  if (wanted === undefined) return undefined
  const read = kind === 'email' ? normalizedEmail : normalizedPhone
  return (payload) => communicationsOf(payload).some((value) => read(value) === wanted)
}

/** In lower case, although the part before the `@` may depend on it: no provider that people use makes a difference. */
function normalizedEmail(text: string): string | undefined {
  const email = text.trim().normalize('NFKC').toLowerCase()
  return /^[^\s@]+@[^\s@]+$/.test(email) ? email : undefined
}

const fewestDigits = 5

/** Its digits, as one dials them within the United Kingdom: `+44 (0)20 7946 0958` is 02079460958. */
function normalizedPhone(text: string): string | undefined {
  const written = text
    .trim()
    .replace(/^00/, '+')
    .replace(/^\+\s*44\s*(\(0\))?/, '0')
  if (!/^\+?[\d\s()./-]+$/.test(written)) return undefined
  const digits = written.replaceAll(/\D/g, '')
  return digits.length < fewestDigits ? undefined : digits
}

/** Without regard to case, accents, the kind of apostrophe, and how many blanks. */
function normalizedName(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[‘’ʼ`]/g, "'")
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** The name in the forms in which somebody may search for it. */
function namesOf(payload: unknown): readonly string[] {
  const part = (name: string) => memberText(payload, name) ?? ''
  const [title, first, middle, last] = ['title', 'first_name', 'middle_name', 'last_name'].map(part)
  const forms = [
    [first, last],
    [first, middle, last],
    [title, first, last],
    [title, first, middle, last],
    [title, last],
    [part('company_name')],
  ]
  return forms.map((words) => normalizedName(words.join(' ')))
}

function communicationsOf(payload: unknown): readonly string[] {
  const ways = memberOf(payload, 'communications')
  if (!Array.isArray(ways)) return []
  return ways.flatMap((way) => memberText(way, 'value') ?? [])
}

export function addFind(contacts: Command, context: CommandContext): void {
  const command = contacts
    .command('find')
    .description('list the contacts that have exactly this address, number or name')
    .requiredOption('--tenant <tenant>', 'id or name of the tenant whose contacts are searched')
    .option('--email <address>', 'an e-mail address')
    .option('--phone <number>', 'a telephone number, with or without +44')
    .option('--name <name>', 'a person’s first and last name, or the name of a company')
  addNote(
    command,
    'Reads the latest payload of every contact of the tenant, about ten thousand a second. Case, blanks and ' +
      'the way a number is written make no difference. The search is recorded, but never whom it was for.',
  )
  addSettings(command, changeSettings)
  addAction(command, context, (invocation) => {
    const { output, settings: reader, flags } = invocation
    const wanted = readWanted(invocation)
    return withStore(reader, flags, async (store) => {
      const { tenantId } = await findTenant(store, flagText(flags, 'tenant') ?? '')
      const progress = createProgress(output, 'contacts searched')
      const { found, searched } = await findContacts(store.storage, tenantId, wanted.matches, (count) =>
        progress.update(count, undefined),
      )
      progress.end()
      const detail = { by: wanted.kind, found: found.length }
      await store.storage.audit.note(
        { action: 'contacts.searched', tenant: tenantId, target: null, detail },
        store.actor,
      )
      if (output.json) return output.writeJson({ found, searched })
      if (found.length === 0) return output.write(`No match among ${searched} contacts.\n`)
      const rows = found.map(({ contactRef, sequenceNumber, createdDate }) => {
        return [contactRef, String(sequenceNumber), createdDate.slice(0, 19).replace('T', ' ')]
      })
      return output.write(tableText(['contact', 'latest event', 'published (UTC)'], rows))
    })
  })
}

function readWanted({ flags, settings: reader }: Invocation): {
  readonly kind: SearchKind
  readonly matches: ContactMatch
} {
  const given = searchKinds.filter((kind) => flagText(flags, kind) !== undefined)
  const [kind = 'email'] = given
  const matches = contactMatch(kind, flagText(flags, kind) ?? '')
  if (given.length !== 1) reader.fault('Specify what to search for: one of --email, --phone and --name.')
  // The search text identifies a person, so it is not shown.
  else if (matches === undefined) {
    const format = { email: 'an e-mail address', phone: 'a telephone number', name: 'a name' }[kind]
    reader.fault(`The value of --${kind} is not ${format}.`)
  }
  return { kind, matches: matches ?? (() => false) }
}
