/** What became of a request. */
import type { Trouble } from './trouble.ts'

export type Outcome<T> =
  | { readonly kind: 'answer'; readonly value: T; readonly status: number; readonly head: Headers }
  /** It is still what the tag named. */
  | { readonly kind: 'unchanged' }
  /** The caller ended it. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'trouble'; readonly trouble: Trouble }
