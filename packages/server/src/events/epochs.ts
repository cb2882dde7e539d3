/** Epochs of feeds: their names, and what feeds that lost numbers wait for (D13, docs/decisions/0018). */
import type { FeedKey } from './feed-key.ts'

/** A feed to which publishing is refused until a new epoch begins in it (D13). */
export interface WaitingFeed {
  readonly key: FeedKey
  /** The highest number that the store holds for it, or has counted past. */
  readonly heldNumber: number
  /** The highest number that a node has reported as shown, if it is not in the store. */
  readonly shownNumber: number | undefined
}

/** What a node has shown of a feed, and its store does not hold (any more). */
export interface LostNumbers {
  readonly key: FeedKey
  readonly shownNumber: number
  readonly heldNumber: number
}

/** The feeds to which publishing is refused until a new epoch begins (D13): none, some, or all. */
export type EpochNeed = 'none' | 'some' | 'all'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const epochIdLength = 10

/** A new epoch's name: 10 base62 characters, 59 random bits, so that a restored store never reuses an old name (D13). */
export function newEpochId(): string {
  let text = ''
  while (text.length < epochIdLength) {
    for (const byte of crypto.getRandomValues(new Uint8Array(epochIdLength))) {
      // 248 is the largest multiple of 62 in a byte: larger values would favour some characters.
      if (byte < 248 && text.length < epochIdLength) text += alphabet.charAt(byte % 62)
    }
  }
  return text
}

/** The number of characters of an epoch's name that are in its weight. */
const weighedCharacters = 5

/**
 * A number for an epoch, made of the first characters of its name. Added up over all feeds, which a database does in one statement
 * (`epochWeightSql`), it shows whether an epoch has begun in any of them. ASCII: 7 bits a character.
 */
export function epochWeight(epoch: string): number {
  let weight = 0
  for (let index = weighedCharacters - 1; index >= 0; index -= 1)
    weight = weight * 128 + (epoch.charCodeAt(index) || 0)
  return weight
}

/** The same in SQL, for a column `epoch`; `code`: the function that returns the code of a text's first character. */
export function epochWeightSql(code: 'ascii' | 'unicode'): string {
  const terms = Array.from(
    { length: weighedCharacters },
    (_, index) => `coalesce(${code}(substr(epoch, ${index + 1}, 1)), 0) * CAST(${128 ** index} AS bigint)`,
  )
  return terms.join(' + ')
}
