/** The address of a service in a form that can be opened. */
import type { AddressInfo } from 'node:net'

/** An address that can be opened: a wildcard is shown as this machine's own. */
export function addressUrl(address: AddressInfo | string | null): string {
  const port = portOf(address)
  const listening = address === null || typeof address === 'string' ? '' : address.address
  const host = listening === '0.0.0.0' ? '127.0.0.1' : listening === '::' ? '::1' : listening
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The configured port, or the free port that was found. */
export function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  return address.port
}
