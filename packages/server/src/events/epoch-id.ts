const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const epochIdLength = 10

/** A new epoch's name: 10 base62 characters, 59 random bits, so that a restored store never reuses an old name (D13). */
export function newEpochId(): string {
  let text = ''
  while (text.length < epochIdLength) {
    for (const byte of crypto.getRandomValues(new Uint8Array(epochIdLength))) {
      // 248 is the largest multiple of 62 in a byte: larger values would favour some characters.
      if (byte < 248 && text.length < epochIdLength) text += alphabet.charAt(byte % 62)
    }
  }
  return text
}
