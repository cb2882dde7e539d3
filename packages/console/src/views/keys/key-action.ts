/** The dialogs that open over the list of keys. */
import type { Key } from '@property-events/protocol/wire'

export type KeyAction =
  | { readonly kind: 'issue' }
  | { readonly kind: 'change' | 'rotate' | 'revoke' | 'usage'; readonly key: Key }
