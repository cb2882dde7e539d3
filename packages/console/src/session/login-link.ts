/** The secret of a link that signs in once: `/console/#login=…`. */

/** The secret in a fragment such as `#login=3k…`, or in a whole link; `undefined` if there is none. */
export function loginOf(link: string): string | undefined {
  return /#login=([\w-]{1,200})$/.exec(link)?.[1]
}
