import assert from 'node:assert/strict'
import { newKeyText } from '@property-events/protocol'

export const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A well-formed key with this id and a secret of its own. */
export function forge(keyId: string): string {
  // The generator takes its id first: bytes that give the wanted characters, then chance.
  let call = 0
  const { text, parts } = newKeyText((bytes) => {
    call += 1
    return call === 1
      ? Uint8Array.from(keyId, (character) => alphabet.indexOf(character))
      : crypto.getRandomValues(new Uint8Array(bytes))
  })
  assert.equal(parts.keyId, keyId)
  return text
}
