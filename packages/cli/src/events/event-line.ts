/** One event as lines for a person, as wide as the terminal. */
import type { Client, FeedEvent } from '@property-events/client'
import { listing } from '@property-events/client/listing'
import type { Listing, ListingPrice } from '@property-events/client/listing'
import type { Style } from '../terminal-style.ts'
import { plainText } from '../terminal-text.ts'
import { timeText } from '../timestamp-option.ts'

/** What was known of a property before an event. */
type EarlierState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'none' }
  | { readonly kind: 'listing'; readonly listing: Listing }

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

/** Address, price and what changed; `undefined` for a contact, of whom nothing is shown. */
export function shownOf(event: FeedEvent, before: EarlierState): EventSummary | undefined {
  if (!event.eventTypeShortCode.startsWith('Property')) return undefined
  const now = listingOf(event)
  // What was erased or came without a payload is still somewhere.
  const seen = now ?? (before.kind === 'listing' ? before.listing : undefined)
  return {
    address: seen?.address.display ?? null,
    price: seen?.price.text ?? null,
    changes: changesOf(now, before),
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

function changesOf(now: Listing | undefined, before: EarlierState): readonly string[] {
  if (now === undefined) return ['payload erased']
  if (before.kind === 'unknown') return now.removalReason === null ? [] : [now.removalReason]
  if (before.kind === 'none') return ['new']
  const changes = [
    ...(now.published === false ? [now.removalReason ?? 'off the market'] : []),
    ...(before.listing.published === false && now.published === true ? ['back on the market'] : []),
    ...listingChanges(before.listing, now),
  ]
  return changes.length === 0 ? ['details'] : changes
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

/** Short phrases, those that readers care about most first; empty where nothing that a listing shows has changed. */
function listingChanges(before: Listing, after: Listing): readonly string[] {
  return [
    priceChange(before.price, after.price),
    moved('', before.status?.name, after.status?.name),
    moved('address ', before.address.display, after.address.display),
    counted('photograph', before.photographs.length, after.photographs.length),
    counted('floor plan', before.floorPlans.length, after.floorPlans.length),
    moved('bedrooms ', before.bedrooms, after.bedrooms),
    moved('available ', before.availableOn, after.availableOn),
    moved('energy ', before.energyRating?.name, after.energyRating?.name),
    before.summary.text === after.summary.text ? undefined : 'summary',
    before.description.text === after.description.text ? undefined : 'description',
    sameUrls(before, after) ? undefined : 'other photographs',
  ].filter((phrase) => phrase !== undefined)
}

/** `price 450,000 → 435,000`; with the whole texts where more than the amount has changed, as from a price to POA. */
function priceChange(before: ListingPrice, after: ListingPrice): string | undefined {
  if (before.text === after.text) return undefined
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

type ListingValue = string | number | null | undefined

function moved(what: string, before: ListingValue, after: ListingValue): string | undefined {
  if ((before ?? null) === (after ?? null)) return undefined
  return `${what}${before ?? 'none'} → ${after ?? 'none'}`
}

function counted(what: string, before: number, after: number): string | undefined {
  if (before === after) return undefined
  return `${before} → ${after} ${what}${after === 1 ? '' : 's'}`
}

/** Where their number differs, that is said already. */
function sameUrls({ photographs: before }: Listing, { photographs: after }: Listing): boolean {
  return before.length !== after.length || before.every(({ url }, index) => url === after[index]?.url)
}

/** Listings in memory, some 10 kB each. */
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
  const listings = new Map<string, Listing>()
  return {
    async before(event, { readsHistory }) {
      const now = listingOf(event)
      const reference = now?.reference ?? undefined
      if (reference === undefined) return { kind: 'unknown' }
      const earlier = listings.get(reference)
      if (earlier !== undefined) return { kind: 'listing', listing: earlier }
      return readsHistory ? fromHistory(client, reference, event.sequenceNumber) : { kind: 'unknown' }
    },
    note(event) {
      const now = listingOf(event)
      if (now?.reference === undefined || now.reference === null) return
      listings.delete(now.reference)
      listings.set(now.reference, now)
      const [oldest] = listings.keys()
      if (listings.size > keptAtMost && oldest !== undefined) listings.delete(oldest)
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
  const found = earlier.payload === '' ? undefined : listing(earlier.payload)
  return found === undefined ? { kind: 'unknown' } : { kind: 'listing', listing: found }
}
