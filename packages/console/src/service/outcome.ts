/** The outcome of a request. */
import type { Trouble } from './trouble.ts'

export type Outcome<T> =
  | { readonly kind: 'answer'; readonly value: T; readonly status: number; readonly head: Headers }
  /** The tag still matches. */
  | { readonly kind: 'unchanged' }
  /** The caller ended it. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'trouble'; readonly trouble: Trouble }
