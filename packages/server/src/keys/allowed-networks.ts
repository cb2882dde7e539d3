/** The networks that a key may be used from (D11). */
import { BlockList, isIP, isIPv4 } from 'node:net'

/** `networks`: each as `isNetwork` has it. */
export function allowedNetworks(networks: readonly string[]): { has(address: string): boolean } {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return {
    has(address) {
      const version = isIP(address)
      return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
    },
  }
}

/** Whether a key can be limited to this: an address, or a network such as `192.0.2.0/24` or `2001:db8::/32`. */
export function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([0-9A-Fa-f.:]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const version = isIP(address)
  return version !== 0 && (bits === undefined || Number(bits) <= (version === 4 ? 32 : 128))
}
