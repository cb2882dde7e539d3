/** Where a service listens, as somebody can open it. */
import type { AddressInfo } from 'node:net'

/** An address somebody can open: a wildcard is shown as this machine's own. */
export function addressUrl(address: AddressInfo | string | null): string {
  const port = portOf(address)
  const listening = address === null || typeof address === 'string' ? '' : address.address
  const host = listening === '0.0.0.0' ? '127.0.0.1' : listening === '::' ? '::1' : listening
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The port that was given, or found free. */
export function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  return address.port
}
