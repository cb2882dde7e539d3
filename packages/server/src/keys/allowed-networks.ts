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
