/** Addresses of pictures and documents, in a form that every page can hold. */

/** The longest address that the contract accepts, in characters. */
const longest = 2048
const form =
  /^(https?):\/\/(\[[0-9A-F.]*:[0-9A-F.]*:[0-9A-F:.]*\]|[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.-]*)(:\d{1,5})?([/?#].*)?$/isu
/** A host that ends in a number is an address of four numbers. */
const endsInNumber = /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/i
const fourNumbers = /^(?:(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])(?:\.|$)){4}$/
const highestPort = 65_535

/**
 * The address as a browser asks for it: what cannot stand in an address or attribute is percent-encoded. `undefined` if it cannot be shown:
 * another scheme, no host or port that can exist, a user name, too long. The same rule is in `PropertyListing.php`, and in the service,
 * whose receipt says what is not shown.
 */
export function webAddressOf(text: string | null): string | undefined {
  // Browsers skip tabs and line ends, wherever they are.
  const given = (text ?? '').trim().replaceAll(/[\t\n\r]/g, '')
  if (given.length > 2 * longest || Array.from(given).length > longest) return undefined
  const [, scheme = '', host = '', port = '', rest = ''] = form.exec(given) ?? []
  if (host === '' || Number(port.slice(1)) > highestPort) return undefined
  if (endsInNumber.test(host) && !fourNumbers.test(host)) return undefined
  const [path = ''] = /^[^?#]*/.exec(rest) ?? []
  const place = path.replaceAll('\\', '/') + rest.slice(path.length)
  return `${scheme.toLowerCase()}://${host}${port}${encoded(place)}`
}

function encoded(text: string): string {
  return text.replaceAll(/[^!#-&(-;=?-[\]_a-z~]/gu, (character) => {
    if (character === "'") return '%27'
    // Half of a surrogate pair is no character.
    return encodeURIComponent(/\p{Cs}/u.test(character) ? '\ufffd' : character)
  })
}
