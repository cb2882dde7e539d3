/** One event as lines for a person, as wide as the terminal. */
import type { Client, FeedEvent } from '@property-events/client'
import { listing } from '@property-events/client/listing'
import type { Listing, ListingPrice } from '@property-events/client/listing'
import { changes, reductionOf, versionChanges } from '@property-events/protocol'
import type { VersionChanges } from '@property-events/protocol'
import type { Style } from '../terminal-style.ts'
import { plainText } from '../terminal-text.ts'
import { timeText } from '../timestamp-option.ts'

/** What was known of a property before an event. */
type EarlierState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'none' }
  | { readonly kind: 'version'; readonly payload: string }

/** What an event shows of its property. */
interface EventSummary {
  /** `null` where nothing is known of it. */
  readonly address: string | null
  readonly price: string | null
  /** Short phrases; empty where nothing that a listing shows has changed, or where it is not known. */
  readonly changes: readonly string[]
}

/** As wide as a reference, which stands there where there is no address. */
const addressWidth = 36

/** `Offers in excess of £560,000`. */
const priceWidth = 28

/** Number, time and a word for the type. */
const indentOfChanges = 7 + 2 + 8 + 2 + 9 + 2

/** With some room for what changed. */
const widthOfOneLine = 8 + 2 + 19 + 2 + 19 + 2 + addressWidth + 2 + priceWidth + 2 + 20

/** Whether a line of so many characters has room for a time alone, without its day. */
export function isNarrow(columns: number): boolean {
  return columns < widthOfOneLine
}

/** The event's property; `undefined` for an event of another feed, and for one whose payload is gone. */
function listingOf({ payload }: FeedEvent): Listing | undefined {
  return payload === '' ? undefined : listing(payload)
}

/** What differs from the version before; of a contact, and of an earlier version that was not read, nothing is said. */
export function changesIn(event: FeedEvent, before: EarlierState): Partial<VersionChanges> {
  if (before.kind === 'unknown') return {}
  return versionChanges(before.kind === 'none' ? undefined : before.payload, event.payload)
}

/** Address, price and what changed; `undefined` for a contact, of whom nothing is shown. */
export function shownOf(event: FeedEvent, before: EarlierState): EventSummary | undefined {
  if (!event.eventTypeShortCode.startsWith('Property')) return undefined
  const now = listingOf(event)
  // What was erased or came without a payload is still somewhere.
  const seen = now ?? (before.kind === 'version' ? listing(before.payload) : undefined)
  return {
    address: seen?.address.display ?? null,
    price: seen?.price.text ?? null,
    changes: changesOf(event, now, before),
  }
}

/**
 * Number, time (UTC), type, address, price and what changed; of a contact the transaction, and nothing personal. Where `columns` are too
 * few for that, the type and the price are short, and what changed stands on a line of its own.
 */
export function eventLines(event: FeedEvent, before: EarlierState, style: Style, columns = Infinity): string {
  const shown = shownOf(event, before)
  const label = shown?.address ?? event.transactionId
  const paint = colourOf(event.eventTypeShortCode, style)
  const changes = shown === undefined ? '' : plainText(shown.changes.join(', '))
  const number = String(event.sequenceNumber)
  if (!isNarrow(columns)) {
    const time = plainText(timeText(event.createdDate))
    const type = paint(plainText(event.eventTypeShortCode).padEnd(19))
    const begin = [style.dim(number.padStart(8)), time, type].join('  ')
    if (shown === undefined) return `${begin}  ${plainText(label)}`
    const cells = [begin, fitted(label, addressWidth), fitted(shown.price ?? '', priceWidth), changes]
    return cells.join('  ').trimEnd()
  }
  const time = plainText(event.createdDate.slice(11, 19))
  const word = paint(wordOf(event.eventTypeShortCode).padEnd(9))
  const begin = [style.dim(number.padStart(7)), time, word].join('  ')
  const left = Math.max(12, columns - indentOfChanges)
  const price = plainText(shown?.price ?? '')
  const room = left - price.length - 2
  const fits = price === '' || room >= 16
  const first =
    price !== '' && fits ? `${begin}  ${fitted(label, room)}  ${price}` : `${begin}  ${cut(label, left)}`
  const below = [...(fits ? [] : [price]), ...(changes === '' ? [] : [changes])].join(', ')
  return [first, ...wrapped(below, left).map((line) => ' '.repeat(indentOfChanges) + style.cyan(line))].join(
    '\n',
  )
}

const reducedWords = { erased: 'payload erased', thinned: 'payload removed by retention' } as const

function changesOf(event: FeedEvent, now: Listing | undefined, before: EarlierState): readonly string[] {
  if (now === undefined) return [reducedWords.erased]
  const gone = reductionOf(event.payload)
  if (gone !== undefined) return [reducedWords[gone]]
  const found = changesIn(event, before).changes
  const was = before.kind === 'version' && found ? listing(before.payload) : undefined
  if (before.kind === 'none') return ['new']
  if (was === undefined || !found) return now.removalReason === null ? [] : [now.removalReason]
  const phrases = [
    ...(now.published === false ? [now.removalReason ?? 'off the market'] : []),
    ...(was.published === false && now.published === true ? ['back on the market'] : []),
    ...listingPhrases(was, now),
  ]
  if (phrases.length > 0) return phrases
  return found.length === 0 ? ['the same again'] : ['details']
}

function colourOf(code: string, style: Style): (text: string) => string {
  if (code.endsWith('Published') || code.endsWith('Created')) return style.green
  if (code.endsWith('Unpublished') || code.endsWith('Erased')) return style.red
  return style.yellow
}

const words: Readonly<Record<string, string>> = {
  PropertyPublished: 'published',
  PropertyUpdated: 'updated',
  PropertyUnpublished: 'removed',
  ContactCreated: 'created',
  ContactUpdated: 'updated',
  ContactErased: 'erased',
}

/** Another server's code is cut, since it may be long. */
function wordOf(code: string): string {
  return words[code] ?? cut(code, 9)
}

function cut(text: string, width: number): string {
  const plain = plainText(text)
  return plain.length > width ? `${plain.slice(0, width - 1)}…` : plain
}

function fitted(text: string, width: number): string {
  return cut(text, width).padEnd(width)
}

/** Lines of at most `width` characters, broken at blanks; a longer word is broken where it must be. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((part) => part.match(new RegExp(`.{1,${width}}`, 'gu')) ?? [])) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return line === '' ? lines : [...lines, line]
}

type Fact = string | number | null | readonly string[]

/** What a line says of a listing, those facts first that readers care about most. */
const facts: Readonly<Record<string, (listing: Listing) => Fact>> = {
  price: ({ price }) => price.text,
  status: ({ status }) => status?.name ?? null,
  address: ({ address }) => address.display,
  photograph: ({ photographs }) => photographs.map(({ url }) => url),
  'floor plan': ({ floorPlans }) => floorPlans.map(({ url }) => url),
  bedrooms: ({ bedrooms }) => bedrooms,
  available: ({ availableOn }) => availableOn,
  energy: ({ energyRating }) => energyRating?.name ?? null,
  summary: ({ summary }) => summary.text,
  description: ({ description }) => description.text,
}

/** Short phrases; empty where nothing that a line says has changed. */
function listingPhrases(before: Listing, after: Listing): readonly string[] {
  const read = (one: Listing) =>
    Object.fromEntries(Object.entries(facts).map(([name, of]) => [name, of(one)]))
  const [was, is] = [read(before), read(after)]
  const changed = new Set(changes(was, is).map(({ pointer }) => pointer.split('/')[1]))
  return Object.keys(facts)
    .filter((name) => changed.has(name))
    .map((name) =>
      name === 'price'
        ? priceChange(before.price, after.price)
        : phraseOf(name, was[name] ?? null, is[name] ?? null),
    )
}

function phraseOf(name: string, before: Fact, after: Fact): string {
  if (typeof before === 'object' && typeof after === 'object' && before !== null && after !== null) {
    const [old, now] = [before.length, after.length]
    return old === now ? `other ${name}s` : `${old} → ${now} ${name}${now === 1 ? '' : 's'}`
  }
  if (name === 'summary' || name === 'description') return name
  const values = `${String(before ?? 'none')} → ${String(after ?? 'none')}`
  return name === 'status' ? values : `${name} ${values}`
}

/** `price 450,000 → 435,000`; with the whole texts where more than the amount has changed, as from a price to POA. */
function priceChange(before: ListingPrice, after: ListingPrice): string {
  const isAmount = before.amount !== null && after.amount !== null
  const frame = ({ text, amount }: ListingPrice) => text?.replace(amountText(amount), '#')
  if (isAmount && frame(before) === frame(after)) {
    return `price ${amountText(before.amount)} → ${amountText(after.amount)}`.replaceAll('£', '')
  }
  return `price ${before.text ?? 'none'} → ${after.text ?? 'none'}`
}

/** As `price.text` writes it. */
function amountText(amount: number | null): string {
  const hasPence = amount !== null && !Number.isInteger(amount)
  const digits = { minimumFractionDigits: hasPence ? 2 : 0, maximumFractionDigits: 2 }
  return `£${(amount ?? 0).toLocaleString('en-GB', digits)}`
}

/** Payloads in memory, some 5 kB each. */
const keptAtMost = 2_000

/** Versions of a property that are looked through: a page of its history. */
const versionsAtMost = 100

interface EarlierListings {
  /** `readsHistory`: whether the service is asked for the history of a property that has not been seen yet. */
  before(event: FeedEvent, options: { readonly readsHistory: boolean }): Promise<EarlierState>
  /** After its line was written. */
  note(event: FeedEvent): void
}

export function earlierListings(client: Pick<Client, 'history'>): EarlierListings {
  /** By `agent_ref`; the oldest are dropped first. */
  const payloads = new Map<string, string>()
  return {
    async before(event, { readsHistory }) {
      const now = listingOf(event)
      const reference = now?.reference ?? undefined
      if (reference === undefined) return { kind: 'unknown' }
      const payload = payloads.get(reference)
      if (payload !== undefined) return { kind: 'version', payload }
      return readsHistory ? fromHistory(client, reference, event.sequenceNumber) : { kind: 'unknown' }
    },
    note(event) {
      const now = listingOf(event)
      if (now?.reference === undefined || now.reference === null) return
      payloads.delete(now.reference)
      payloads.set(now.reference, event.payload)
      const [oldest] = payloads.keys()
      if (payloads.size > keptAtMost && oldest !== undefined) payloads.delete(oldest)
    },
  }
}

async function fromHistory(
  client: Pick<Client, 'history'>,
  reference: string,
  before: number,
): Promise<EarlierState> {
  let earlier: FeedEvent | undefined
  let versions = 0
  for await (const event of client.history(reference)) {
    versions += 1
    if (event.sequenceNumber >= before) break
    if (versions > versionsAtMost) return { kind: 'unknown' }
    earlier = event
  }
  if (earlier === undefined) return { kind: 'none' }
  return earlier.payload === '' ? { kind: 'unknown' } : { kind: 'version', payload: earlier.payload }
}
