import { keyText, newKeyText, sandboxTenantId } from '@property-events/protocol'
import type { AdminScope, KeyParts } from '@property-events/protocol'
import type { Actor } from '../audit/actor.ts'
import type { Grant, KeyRate, KeyReading, KeyRecord, KeyStore } from './key.ts'
import { hashSecret } from './pepper.ts'
import type { Pepper } from './pepper.ts'

export interface IssueRequest {
  /** What the key is for, in words for people. */
  readonly label: string
  /** An operator key belongs to no tenant, so its `grants` is empty. */
  readonly operator: boolean
  readonly grants: readonly Grant[]
  /** First millisecond at which the key no longer works; `undefined`: never. */
  readonly expiresMs: number | undefined
  readonly nowMs: number
  /** Who makes the key. */
  readonly actor: Actor
  /** Default: the rate that the service gives every key. */
  readonly rate?: KeyRate | undefined
  /** Only for an operator key. */
  readonly adminScopes?: readonly AdminScope[]
  /** In the form that `isNetwork` accepts. Default: the key works from anywhere. */
  readonly networks?: readonly string[]
  /** Default: the key reads as usual. */
  readonly reading?: KeyReading | undefined
}

export type IssueOutcome =
  /** `text` is the key itself. Its owner sees it once; it cannot be read back from the store. */
  | { readonly kind: 'issued'; readonly text: string; readonly record: KeyRecord }
  | { readonly kind: 'unknownTenant' }

/** Ids have 71 random bits, so a second clash in a row is not chance. */
const idAttempts = 3

/** Makes a key and stores its hash (D11). */
export async function issueKey(keys: KeyStore, pepper: Pepper, request: IssueRequest): Promise<IssueOutcome> {
  for (let attempt = 0; attempt < idAttempts; attempt += 1) {
    const { text, record } = newKey(pepper, request)
    const outcome = await keys.insertKey(record, request.actor)
    if (outcome === 'created') return { kind: 'issued', text, record }
    if (outcome === 'unknownTenant') return { kind: 'unknownTenant' }
  }
  throw new Error('the random number generator repeats itself')
}

/** A key that is not stored yet. */
export interface MadeKey {
  readonly text: string
  readonly record: KeyRecord
}

/** A key, and the record of it to store. */
export function newKey(pepper: Pepper, request: Omit<IssueRequest, 'actor'>): MadeKey {
  const { parts } = newKeyText()
  const { adminScopes = [], networks = [] } = request
  return {
    text: textOf(parts, request.grants),
    record: {
      keyId: parts.keyId,
      secretHash: hashSecret(pepper, parts.secret),
      pepperId: pepper.pepperId,
      label: request.label,
      operator: request.operator,
      grants: request.grants,
      createdMs: request.nowMs,
      expiresMs: request.expiresMs,
      revokedMs: undefined,
      lastUsedMs: undefined,
      rate: request.rate,
      ...(adminScopes.length === 0 ? {} : { adminScopes }),
      ...(networks.length === 0 ? {} : { networks }),
      ...(request.reading && { reading: request.reading }),
    },
  }
}

export interface RotateRequest {
  readonly nowMs: number
  /** How long the old key keeps working. */
  readonly overlapMs: number
  readonly actor: Actor
}

export type RotateOutcome =
  | { readonly kind: 'rotated'; readonly text: string; readonly record: KeyRecord; readonly old: KeyRecord }
  | { readonly kind: 'unknownKey' | 'ended' }

/** Makes a key that replaces another one. The old key keeps working for a while (D11). */
export async function rotateKey(
  keys: Pick<KeyStore, 'rotateKey'>,
  pepper: Pepper,
  keyId: string,
  { nowMs, overlapMs, actor }: RotateRequest,
): Promise<RotateOutcome> {
  for (let attempt = 0; attempt < idAttempts; attempt += 1) {
    const { parts } = newKeyText()
    const fresh = {
      keyId: parts.keyId,
      secretHash: hashSecret(pepper, parts.secret),
      pepperId: pepper.pepperId,
      createdMs: nowMs,
      oldEndsMs: nowMs + overlapMs,
    }
    const outcome = await keys.rotateKey(keyId, fresh, actor)
    if (outcome.kind === 'exists') continue
    if (outcome.kind !== 'rotated') return { kind: outcome.kind }
    return { ...outcome, text: textOf(parts, outcome.record.grants) }
  }
  throw new Error('the random number generator repeats itself')
}

/** The text of a sandbox key says that it is one. A key that also opens live feeds is never a test key, and does not open the sandbox. */
function textOf(parts: KeyParts, grants: readonly Grant[]): string {
  return keyText(parts, grants.length > 0 && grants.every(({ tenantId }) => tenantId === sandboxTenantId))
}
