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

/** Where the 16 pairs of digits stand in a UUID's text. */
const pairPlaces = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]

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
    const place = pairPlaces[index] ?? 0
    into[at + index] = (digitOf(uuid.charCodeAt(place)) << 4) | digitOf(uuid.charCodeAt(place + 1))
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

/**
 * A UUID version 5 (RFC 9562): the same namespace and name give the same UUID for ever (D16, derived events). `digest`: SHA-1,
 * where the platform has a faster one.
 */
export function uuidV5(
  namespace: string,
  name: string,
  digest: (message: Uint8Array) => Uint8Array = sha1,
): string {
  const nameBytes = new TextEncoder().encode(name)
  const input = new Uint8Array(16 + nameBytes.length)
  input.set(bytesOfUuid(namespace))
  input.set(nameBytes, 16)
  return stamp(digest(input).slice(0, 16), 5)
}

/** SHA-1 (FIPS 180-4). Web Crypto has it only as a promise, and version 5 ids are needed inside a transaction. */
function sha1(message: Uint8Array): Uint8Array {
  const bitLength = message.length * 8
  const padded = new Uint8Array((((message.length + 8) >> 6) << 6) + 64)
  padded.set(message)
  padded[message.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(bitLength / 2 ** 32))
  view.setUint32(padded.length - 4, bitLength >>> 0)
  const state = new Uint32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0])
  const words = new Uint32Array(80)
  for (let block = 0; block < padded.length; block += 64) {
    for (let index = 0; index < 16; index += 1) words[index] = view.getUint32(block + index * 4)
    for (let index = 16; index < 80; index += 1) {
      words[index] = rotateLeft(
        at(words, index - 3) ^ at(words, index - 8) ^ at(words, index - 14) ^ at(words, index - 16),
        1,
      )
    }
    let [a, b, c, d, e] = [at(state, 0), at(state, 1), at(state, 2), at(state, 3), at(state, 4)]
    for (let index = 0; index < 80; index += 1) {
      const [mixed, constant] = sha1Round(index, b, c, d)
      const next = (rotateLeft(a, 5) + mixed + e + constant + at(words, index)) >>> 0
      ;[e, d, c, b, a] = [d, c, rotateLeft(b, 30), a, next]
    }
    for (const [index, value] of [a, b, c, d, e].entries()) state[index] = (at(state, index) + value) >>> 0
  }
  const digest = new Uint8Array(20)
  const out = new DataView(digest.buffer)
  for (let index = 0; index < 5; index += 1) out.setUint32(index * 4, at(state, index))
  return digest
}

function sha1Round(index: number, b: number, c: number, d: number): readonly [number, number] {
  if (index < 20) return [(b & c) | (~b & d), 0x5a827999]
  if (index < 40) return [b ^ c ^ d, 0x6ed9eba1]
  if (index < 60) return [(b & c) | (b & d) | (c & d), 0x8f1bbcdc]
  return [b ^ c ^ d, 0xca62c1d6]
}

function rotateLeft(word: number, bits: number): number {
  return ((word << bits) | (word >>> (32 - bits))) >>> 0
}

function at(words: Uint32Array, index: number): number {
  return words[index] ?? 0
}
