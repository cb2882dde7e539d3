import { isIP } from 'node:net'

/** Whether a key can be limited to this: an address, or a network such as `192.0.2.0/24` or `2001:db8::/32`. */
export function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([0-9A-Fa-f.:]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const version = isIP(address)
  return version !== 0 && (bits === undefined || Number(bits) <= (version === 4 ? 32 : 128))
}
