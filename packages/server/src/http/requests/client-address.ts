import { isIP, isIPv6 } from 'node:net'

/**
 * The address of a client; an IPv4 address in its own form, and an IPv6 address without its zone. `X-Forwarded-For` is trusted only as far
 * as there are proxies of our own: with 1, its last entry, written by that proxy. Entries further left were sent by the client and may be
 * invented.
 */
export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string {
  const hop = hopOf(socketAddress ?? '', forwardedFor, trustedProxies)
  const plain = hop.replace(/%.*$/, '')
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1] ?? plain
}

function hopOf(socketAddress: string, forwardedFor: string | undefined, trustedProxies: number): string {
  if (trustedProxies <= 0 || forwardedFor === undefined) return socketAddress
  const hops = forwardedFor.slice(-2_000).split(',').map(withoutPort)
  const hop = hops.at(Math.max(0, hops.length - trustedProxies))
  return hop !== undefined && isIP(hop) !== 0 ? hop : socketAddress
}

/** `192.0.2.1:443` and `[2001:db8::1]:443` also occur in the header. */
function withoutPort(hop: string): string {
  const text = hop.trim()
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1]
  if (bracketed !== undefined) return bracketed
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text
}

/** What failed authentications are counted under (D10): an IPv4 address, or the /64 of an IPv6 one, which is what one subscriber has. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const gap =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  const groups = [...before, ...gap, ...after].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''))
  return `${groups.join(':')}::/64`
}
