const origin =
  /^https?:\/\/(\[[0-9A-F.]*:[0-9A-F.]*:[0-9A-F:.]*\]|[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.-]*)(:\d{1,5})?(?![^/?#])/iu
/** A host that ends in a number is an address of four numbers. */
const endsInNumber = /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/i
const fourNumbers = /^(?:(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])(?:\.|$)){4}$/
const highestPort = 65_535

/**
 * Whether our listings show an address that keeps the contract: its host and port can exist. The client, which imports nothing, has the
 * same rule (`listing/media.ts`), and so has PHP; one table of addresses is tried with all of them.
 */
export function isShownAddress(address: string): boolean {
  const [, host = '', port = ''] = origin.exec(address.trimEnd()) ?? []
  if (host === '' || Number(port.slice(1)) > highestPort) return false
  return !endsInNumber.test(host) || fourNumbers.test(host)
}
