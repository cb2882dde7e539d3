/** The dialogs that open over the list of keys. */
import type { Key } from '../../service/answers.ts'

export type KeyAction =
  | { readonly kind: 'issue' }
  | { readonly kind: 'change' | 'rotate' | 'revoke' | 'usage'; readonly key: Key }
