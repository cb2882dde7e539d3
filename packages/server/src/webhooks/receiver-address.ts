/**
 * Which addresses the service posts to. Anybody with a key names them, so a name is resolved here and each of its addresses checked, a
 * literal address is checked the same way, and the connection is made to what was checked: neither a name that resolves otherwise a moment
 * later nor an address inside another reaches the network of the service.
 */
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { allowedNetworks } from '../keys/allowed-networks.ts'

/** What an operator allows beyond the public Internet by https. */
export interface AddressPolicy {
  readonly allowHttp: boolean
  /** Such as `10.0.0.0/8`, each as `isNetwork` has it. */
  readonly networks: readonly string[]
}

/** Why an address is not posted to, as a sentence for whoever gave it. */
export interface AddressRefusal {
  readonly kind: 'refused'
  readonly detail: string
}

export interface CheckedAddress {
  readonly address: string
  readonly family: 4 | 6
}

export type CheckedHost =
  | { readonly kind: 'checked'; readonly addresses: readonly [CheckedAddress, ...CheckedAddress[]] }
  | AddressRefusal
  /** The name has no address, or its servers do not answer. */
  | { readonly kind: 'unresolved'; readonly detail: string }

/** All addresses of a name; rejects as `node:dns` does. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export interface AddressCheck {
  /** The shape of an address alone, without a look at any name server. */
  url(text: string): { readonly kind: 'accepted'; readonly url: URL } | AddressRefusal
  /** The host of an accepted address, to be asked again before each connection. */
  host(hostname: string): Promise<CheckedHost>
}

const longestAddress = 2_048
const resolveTimeoutMs = 2_000
/** Ports that no other service is found on, as a rule. */
const firstFreePort = 1_024

export function addressCheck(policy: AddressPolicy, resolve: Resolve = resolveName): AddressCheck {
  const allowed = allowedNetworks(policy.networks)
  const isAllowed = (address: string) => isPublicAddress(address) || allowed.has(address)

  async function addressesOf(hostname: string): Promise<readonly string[]> {
    const literal = hostname.replace(/^\[(.*)\]$/, '$1')
    if (isIP(literal) !== 0) return [literal]
    return isOwnName(hostname) ? ['127.0.0.1', '::1'] : resolve(hostname)
  }

  return {
    url: (text) => checkUrl(text, policy),
    async host(hostname) {
      const [first, ...others] = (await addressesOf(hostname).catch(() => [])).map(withFamily)
      if (first === undefined)
        return { kind: 'unresolved', detail: `${hostname} has no address that a name server knows.` }
      // One that is not public is enough: a name that has both would be tried until the other answers.
      if (![first, ...others].every(({ address }) => isAllowed(address)))
        return { kind: 'refused', detail: `${hostname} leads to an address that is not public.` }
      return { kind: 'checked', addresses: [first, ...others] }
    },
  }
}

/** No name server knows it (RFC 6761). */
function isOwnName(hostname: string): boolean {
  return /^(?:.+\.)?localhost\.?$/.test(hostname)
}

function withFamily(address: string): CheckedAddress {
  return { address, family: isIP(address) === 4 ? 4 : 6 }
}

function checkUrl(text: string, { allowHttp }: AddressPolicy): ReturnType<AddressCheck['url']> {
  const refused = (detail: string): AddressRefusal => ({ kind: 'refused', detail })
  if (text.length > longestAddress) return refused(`An address has at most ${longestAddress} characters.`)
  const url = URL.parse(text)
  if (url === null) return refused('Send an absolute address, such as https://www.example.com/hooks.')
  const { protocol, username, password, port, hash } = url
  if (protocol !== 'https:' && !(allowHttp && protocol === 'http:'))
    return refused(`Send an address that begins with https://, not with ${protocol}//.`)
  if (username !== '' || password !== '')
    return refused('Leave the name and password out of the address: requests are signed.')
  if (hash !== '') return refused('Leave the part after # out of the address: it is never sent.')
  if (port !== '' && Number(port) < firstFreePort && port !== '443')
    return refused(`Use port 443 or one from 1024 to 65535, not ${port}.`)
  return { kind: 'accepted', url }
}

/**
 * Of IPv6 only 2000::/3, where the public addresses are: what wraps an IPv4 address lies elsewhere (`::ffff:127.0.0.1`, `::7f00:1`,
 * `64:ff9b::7f00:1`), or is known by its range (6to4, Teredo).
 */
export function isPublicAddress(text: string): boolean {
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  const [firstByte = 0] = address.toByteArray()
  return address.kind() === 'ipv4' || firstByte >> 5 === 1
}

/** c-ares: `dns.lookup` holds a thread that reading files needs, and reads a hosts file that nobody checks. */
const resolver = new Resolver({ timeout: resolveTimeoutMs, tries: 1 })

async function resolveName(hostname: string): Promise<readonly string[]> {
  const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
}
