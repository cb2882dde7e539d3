/**
 * The text of an API key (D11): `pev_<id>_<secret><checksum>`, that of a test key `pev_test_<id>_<secret><checksum>`. The id names the
 * stored record, the secret proves possession, the checksum (CRC-32 of all before it) lets a typo be refused without touching the store.
 */

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const idLength = 12 // 71 bits: ids are never guessed into each other
const secretLength = 24 // 142 random bits
const checksumLength = 6 // 62^6 > 2^32
const keyPattern = new RegExp(
  `^pev_(test_)?([0-9A-Za-z]{${idLength}})_([0-9A-Za-z]{${secretLength}})([0-9A-Za-z]{${checksumLength}})$`,
)
const testPrefix = 'test_'
/** What the id of a key is like. */
export const keyIdPattern = `^[0-9A-Za-z]{${idLength}}$`
const idExpression = new RegExp(keyIdPattern)
const longestKey = 4 + testPrefix.length + idLength + 1 + secretLength + checksumLength

/** The parts of a well-formed key. */
export interface KeyParts {
  readonly keyId: string
  readonly secret: string
}

export interface ParsedKey extends KeyParts {
  /** It opens the sandbox and nothing else (PROTOCOL §2.8). */
  readonly isTest: boolean
}

/** A new key from 62-way random characters; shown to its owner once. */
export function newKeyText(
  random: (bytes: number) => Uint8Array = (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
): {
  readonly text: string
  readonly parts: KeyParts
} {
  const parts = { keyId: randomBase62(idLength, random), secret: randomBase62(secretLength, random) }
  return { text: keyText(parts, false), parts }
}

/** The text of a key with these parts. */
export function keyText({ keyId, secret }: KeyParts, isTest: boolean): string {
  const body = `pev_${isTest ? testPrefix : ''}${keyId}_${secret}`
  return body + checksumOf(body)
}

/** The parts of a key, or `undefined` when the text cannot be one: wrong shape or wrong checksum. */
export function parseKeyText(text: string): ParsedKey | undefined {
  if (text.length > longestKey) return undefined
  const match = keyPattern.exec(text)
  if (match === null) return undefined
  const [, test, keyId, secret] = match
  if (keyId === undefined || secret === undefined) return undefined
  const isTest = test !== undefined
  return keyText({ keyId, secret }, isTest) === text ? { keyId, secret, isTest } : undefined
}

/** Whether a key can have this id. A store is not asked for any other text: PostgreSQL, for one, fails for one with a NUL. */
export function isKeyId(text: string): boolean {
  return idExpression.test(text)
}

function randomBase62(length: number, random: (bytes: number) => Uint8Array): string {
  let text = ''
  while (text.length < length) {
    for (const byte of random(length)) {
      // 248 is the largest multiple of 62 in a byte: higher values would make some characters more likely.
      if (byte < 248 && text.length < length) text += alphabet.charAt(byte % 62)
    }
  }
  return text
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})

function checksumOf(asciiText: string): string {
  let crc = 0xffffffff
  for (let index = 0; index < asciiText.length; index += 1) {
    crc = (crcTable[(crc ^ asciiText.charCodeAt(index)) & 0xff] ?? 0) ^ (crc >>> 8)
  }
  let rest = (crc ^ 0xffffffff) >>> 0
  let text = ''
  for (let index = 0; index < checksumLength; index += 1) {
    text = alphabet.charAt(rest % 62) + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/**
 * The tenant that test keys open (PROTOCOL §2.8): an agency that does not exist, the same in every store. No other key opens it, and a test
 * key opens nothing else.
 */
export const sandboxTenantId = '7e57be15-0000-4000-8000-5a4db0c5a4db'
