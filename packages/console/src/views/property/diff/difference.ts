/** What differs between two payloads of a property, as values for a view. */

/** One thing that differs. `pointer` leads to it in the payload (RFC 6901), `label` the same for people. */
export type Difference = ValueDifference | WordsDifference | ItemsDifference

interface Located {
  readonly pointer: string
  readonly label: string
}

/** Another value. Null: there was none, or there no longer is. */
interface ValueDifference extends Located {
  readonly kind: 'value'
  readonly before: string | null
  readonly after: string | null
}

/** Another text, word by word. */
interface WordsDifference extends Located {
  readonly kind: 'words'
  readonly pieces: readonly Piece[]
}

/** A part of a text. `gap` replaces words that are equal in both and not shown. */
export interface Piece {
  readonly kind: 'same' | 'added' | 'removed' | 'gap'
  readonly text: string
}

/** Another list: which items came, went, moved, or changed. */
interface ItemsDifference extends Located {
  readonly kind: 'items'
  readonly changes: readonly ItemChange[]
  /** Changes beyond the most that are shown. */
  readonly more: number
}

export interface ItemChange {
  readonly kind: 'added' | 'removed' | 'moved' | 'changed'
  /** `photograph 4`, or what the item is. */
  readonly name: string
  /** Its position, counted from 1: the present one, or for a removed item the former one. */
  readonly position: number
  /** For one that moved: where it was. */
  readonly from?: number
  /** For one that changed, perhaps in addition. */
  readonly differences?: readonly Difference[]
}

/** All differences, most important first. */
export interface PayloadDifference {
  readonly differences: readonly Difference[]
  /** The least number of further differences that are not listed. */
  readonly more: number
}
