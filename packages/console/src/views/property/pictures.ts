/** Which photographs the page may show. All others appear as numbered tiles. */
import { webAddress } from '../../words/plain.ts'

export interface PictureRules {
  /** The service has its own pictures, below `/pictures/`. */
  readonly own: boolean
  /** Other hosts that the page's policy allows, only by https. `*.example.com` means any host below it. */
  readonly hosts: readonly string[]
  /** The service's address as in payloads. */
  readonly serviceUrl: string
  /** The service's path as on this page, without a slash at its end. */
  readonly serviceBase: string
}

/** The address to show a picture from; `undefined`: the browser would refuse it, or it is not a picture. */
export function pictureOf(
  url: string,
  { own, hosts, serviceUrl, serviceBase }: PictureRules,
): string | undefined {
  const address = webAddress(url)
  if (address === undefined) return undefined
  const ownPrefix = `${serviceUrl}/pictures/`
  if (own && address.startsWith(ownPrefix))
    return `${serviceBase}/pictures/${address.slice(ownPrefix.length)}`
  const { protocol, hostname, host } = new URL(address)
  const isAllowed = hosts.some((allowed) =>
    allowed.startsWith('*.') ? hostname.endsWith(allowed.slice(1)) : allowed === hostname || allowed === host,
  )
  return protocol === 'https:' && isAllowed ? address : undefined
}
