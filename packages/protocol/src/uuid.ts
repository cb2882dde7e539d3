/** UUIDs: strict reading (spec §2.1, D8) and the two ways we make them. Runs anywhere: Web Crypto only for randomness. */

const uuidPattern = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/

/** True for 8-4-4-4-12 hexadecimal digits in either case, and nothing else: no braces, no `urn:uuid:`. */
export function isUuid(text: string): boolean {
  return text.length === 36 && uuidPattern.test(text)
}

/** The lower-case form, which is how ids and subjects are compared and stored; `undefined` if it is not a UUID. */
export function parseUuid(text: string): string | undefined {
  return isUuid(text) ? text.toLowerCase() : undefined
}

/** What to do about a text that is not a UUID but has the digits of one, as without hyphens or in braces; shows nothing of it. Else `otherwise`. */
export function uuidRemedy(text: string, otherwise: string): string {
  const digits = text.length > 60 ? '' : text.replace(/^urn:uuid:/i, '').replaceAll(/[^0-9a-z]/gi, '')
  return /^[0-9a-f]{32}$/i.test(digits)
    ? 'Its digits are those of a UUID: write them with hyphens, as in 0d4b6a1e-58c5-4f0e-9a57-2b7c1f3d9e60, and nothing around them'
    : otherwise
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The lower-case text of 16 bytes. */
export function uuidOfBytes(bytes: Uint8Array): string {
  let hex = ''
  for (let index = 0; index < 16; index += 1) {
    if (index === 4 || index === 6 || index === 8 || index === 10) hex += '-'
    hex += hexOfByte[bytes[index] ?? 0]
  }
  return hex
}

/** The index of each of the 16 pairs of digits in a UUID's text. */
const pairIndexes = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]

/** The 16 bytes of a UUID text that `isUuid` accepts. */
export function bytesOfUuid(uuid: string): Uint8Array {
  const bytes = new Uint8Array(16)
  writeUuid(uuid, bytes, 0)
  return bytes
}

/**
 * Writes the 16 bytes into others, from `at` on. Two to four times for each stored event, so it reads digit by digit
 * and makes no strings.
 */
export function writeUuid(uuid: string, into: Uint8Array, at: number): void {
  for (let index = 0; index < 16; index += 1) {
    const from = pairIndexes[index] ?? 0
    into[at + index] = (digitOf(uuid.charCodeAt(from)) << 4) | digitOf(uuid.charCodeAt(from + 1))
  }
}

/**
 * 0 to 15, from the character code of `0` to `9`, `a` to `f` or `A` to `F`: a letter's value is its last four bits plus
 * 9.
 */
function digitOf(code: number): number {
  return (code & 0xf) + (code >> 6) * 9
}

function stamp(bytes: Uint8Array, version: number): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4)
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return uuidOfBytes(bytes)
}

/**
 * A UUID version 7 (RFC 9562): 48 bits of milliseconds, then random bits, so that ids made by the service arrive in
 * rough order and its id index grows at one end.
 */
export function uuidV7(nowMs: number, randomBytes: Uint8Array = nextRandomBytes()): string {
  const bytes = new Uint8Array(16)
  let rest = nowMs
  for (let index = 5; index >= 0; index -= 1) {
    bytes[index] = rest % 256
    rest = Math.floor(rest / 256)
  }
  bytes.set(randomBytes.subarray(0, 10), 6)
  return stamp(bytes, 7)
}

const uuidRandomBytes = 10
const randomPool = new Uint8Array(uuidRandomBytes * 256)
let randomUsed = randomPool.length

/**
 * Ten random bytes. Fetched for 256 ids at once, because a call of the system costs 1.5 µs, for ten bytes or for all of
 * them.
 */
function nextRandomBytes(): Uint8Array {
  if (randomUsed === randomPool.length) {
    crypto.getRandomValues(randomPool)
    randomUsed = 0
  }
  randomUsed += uuidRandomBytes
  return randomPool.subarray(randomUsed - uuidRandomBytes, randomUsed)
}

/** The UUID version 5 (RFC 9562) of a SHA-1. */
export function uuidOfSha1(digest: Uint8Array): string {
  return stamp(digest.slice(0, 16), 5)
}

/** What to do about a subject that is not a UUID; a sentence for errors, without its full stop. */
export const ownReferenceRemedy =
  'Send the UUIDv5 of your own reference, which `property-events reference` creates, and keep yours in service_reference'
