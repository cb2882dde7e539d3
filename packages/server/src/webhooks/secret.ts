/** The secrets of endpoints and what is signed with them, as Standard Webhooks has it: HMAC-SHA-256 over id, time and body. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Pepper } from '../keys/pepper.ts'

const secretPrefix = 'whsec_'
const secretBytes = 32
const nonceBytes = 12
const tagBytes = 16

/** A new secret, as it is shown once: `whsec_` and 32 random bytes in base64. */
export function newSecret(): string {
  return secretPrefix + randomBytes(secretBytes).toString('base64')
}

/** The header `webhook-signature`: one signature for each secret, so that a receiver may know either of two while they are replaced. */
export function signature(
  secrets: readonly string[],
  { id, seconds, body }: { readonly id: string; readonly seconds: number; readonly body: Uint8Array },
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
      const made = createHmac('sha256', key).update(`${id}.${seconds}.`).update(body)
      return `v1,${made.digest('base64')}`
    })
    .join(' ')
}

/** A secret as the store has it: AES-256-GCM, bound to its endpoint, with a key from the pepper, so a copy of the store signs nothing. */
export function sealSecret(pepper: Pepper, endpointId: string, secret: string): Uint8Array {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', sealingKey(pepper), nonce)
  cipher.setAAD(Buffer.from(endpointId))
  return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** `undefined`: sealed with another pepper, for another endpoint, or damaged. */
export function openSecret(pepper: Pepper, endpointId: string, sealed: Uint8Array): string | undefined {
  const bytes = Buffer.from(sealed)
  const end = bytes.length - tagBytes
  if (end < nonceBytes) return undefined
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(pepper), bytes.subarray(0, nonceBytes))
  decipher.setAAD(Buffer.from(endpointId))
  decipher.setAuthTag(bytes.subarray(end))
  try {
    return decipher.update(bytes.subarray(nonceBytes, end), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return undefined
  }
}

function sealingKey({ secret }: Pepper): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', 'property-events webhook secrets', 32))
}
