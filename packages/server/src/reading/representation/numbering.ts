/** Events with other event-type numbers than the store's (D12), for keys with another catalogue. */
import { catalogues, feedNames, numberingNames } from '@property-events/protocol'
import type { EventTypeCatalogue, FeedName, NumberingName } from '@property-events/protocol'

/** For one feed. Two readers with the same numbering read the same bytes (P9). */
export interface Numbering {
  readonly name: NumberingName
  /** The digit of each short code, as a character on the wire. */
  readonly digits: ReadonlyMap<string, number>
}

/** By the setting of a key. `undefined`: the numbers are those of the store. */
type NumberingOf = (name: NumberingName | undefined, feed: FeedName) => Numbering | undefined

/** `catalogue`: the store's. If it has the same numbers, nothing has to be changed. */
export function numberingsOver(catalogue: EventTypeCatalogue): NumberingOf {
  const known = new Map<string, Numbering>()
  for (const name of numberingNames) {
    for (const feed of feedNames) {
      const numbers = Object.entries(catalogues[name][feed])
      const isOther = numbers.some(([code, number]) => catalogue[feed][code] !== number)
      if (isOther) known.set(`${name} ${feed}`, { name, digits: new Map(numbers.map(digitOf)) })
    }
  }
  return (name, feed) => (name === undefined ? undefined : known.get(`${name} ${feed}`))
}

function digitOf([code, number]: readonly [string, number]): readonly [string, number] {
  // A number must never need more room than the one it replaces.
  if (number > 9) throw new Error(`${code} has a number of more than one digit`)
  return [code, firstDigit + number]
}

const firstDigit = 0x30
const blank = 0x20
const quote = 0x22

/** An event has only an id and a number before it, so the first occurrence after an event's start is the member itself. */
const typeMember = Buffer.from(',"eventType":')
const codeMember = Buffer.from(',"eventTypeShortCode":"')
/** Occurs between two events and nowhere else: see `reading/page-cache/segments/segment.ts`. */
export const boundary = Buffer.from('"},{"tenantId":"')
const afterFirst = 3

/**
 * Changes the numbers in place, in one event or in several joined by commas. No length changes: blanks replace the further digits of a
 * longer number. A short code that the numbering does not have keeps its number.
 */
export function renumber(bytes: Uint8Array, { digits }: Numbering): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let start = 0; start >= 0;) {
    const member = text.indexOf(typeMember, start)
    if (member === -1) return
    const from = member + typeMember.length
    const end = text.indexOf(codeMember, from)
    const code = end + codeMember.length
    const codeEnd = text.indexOf(quote, code)
    const digit = digits.get(text.toString('latin1', code, codeEnd))
    if (digit !== undefined) text.fill(blank, from, end).writeUInt8(digit, from)
    const next = text.indexOf(boundary, codeEnd)
    start = next === -1 ? -1 : next + afterFirst
  }
}
