/** What somebody pastes to sign in: a key, or a link that signs in once, `/console/#login=…`. */

/** The secret in a fragment such as `#login=3k…`, or in a whole link; `undefined` if there is none. */
export function loginOf(link: string): string | undefined {
  return /#login=([\w-]{1,200})$/.exec(link)?.[1]
}

/** The visible fault of a text that should be a key, before it is sent; `undefined`: none. */
export function keyFault(text: string): string | undefined {
  if (text === '') return 'Paste a key: it begins with pev_.'
  if (/^pev_(?:test_)?[0-9A-Za-z]{12}_[0-9A-Za-z]{30}$/.test(text)) return undefined
  if (!text.startsWith('pev_')) return 'This is not a key: a key begins with pev_.'
  if (/[^\w]/.test(text)) return 'This is more than a key: paste the key alone, from pev_ to its end.'
  return 'This is not a whole key: paste it again, from pev_ to its end.'
}
