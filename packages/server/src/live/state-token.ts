/** A state of the store as a text that a reader can return with (docs/decisions/0035). */

export interface StateToken {
  /** The sum of all counts in it. */
  readonly total: bigint
  /** A hash of all feeds and their epochs. */
  readonly print: string
  /** A hash of the feeds that the reader may read. */
  readonly ofReadable: string
  /** The thread that wrote it, with how far that thread had learnt of changes: it may know of more than the sum shows. */
  readonly thread: string
  readonly serial: number
}

/** As `writeToken` writes it. */
export const tokenPattern = '^[0-9a-z]{1,20}(?:-[0-9a-z]{1,7}){3}-[0-9a-z]{1,10}$'

const written = new RegExp(tokenPattern)

export function isToken(text: string): boolean {
  return written.test(text)
}

export function writeToken({ total, print, ofReadable, thread, serial }: StateToken): string {
  return [total.toString(36), print, ofReadable, thread, serial.toString(36)].join('-')
}

export function readToken(text: string): StateToken {
  const [digits = '', print = '', ofReadable = '', thread = '', serial = '0'] = text.split('-')
  let total = 0n
  for (const digit of digits) total = total * 36n + BigInt(Number.parseInt(digit, 36))
  return { total, print, ofReadable, thread, serial: Number.parseInt(serial, 36) }
}
