/** From what a person signs in with to the key that it stands for (PROTOCOL §15.3). */
import type { KeyVerdict, KeyVerifier } from '../keys/index.ts'
import { refusalAtDoor, standingCodes } from '../keys/access/access.ts'
import { isFromItsNetwork } from '../keys/access/network.ts'
import { refused } from '../http/exchange.ts'
import type { Refused, Request } from '../http/exchange.ts'
import { retryAfter } from '../http/rate-limit/rate-limit.ts'
import type { Bucket } from '../http/rate-limit/token-bucket.ts'
import type { ConsoleDoor } from './door.ts'
import type { NetworkContext } from '../keys/access/network.ts'

/** What checking a proof needs. */
export interface ProofContext extends Pick<NetworkContext, 'trustedProxies'> {
  readonly verifier: KeyVerifier
}

export interface Proof {
  readonly kind: 'pasted_key' | 'link'
  /** The text of the key, or the secret of the link. */
  readonly secret: string
}

/**
 * Guesses are refused as guesses at keys are (D10), and a right proof is never refused because of a stranger's failures. Rejects as the
 * store does.
 */
export async function prove(
  context: ProofContext,
  door: ConsoleDoor,
  request: Request,
  { kind, secret }: Proof,
  failures: Bucket,
): Promise<{ readonly kind: 'proven'; readonly keyId: string } | Refused> {
  const verdict =
    kind === 'link' ? await ofLink(context, door, secret) : await ofKey(context, secret, failures)
  if (verdict.kind === 'unknown') {
    const refusal = refusalAtDoor(undefined, failures)
    if (refusal.refusal.code === 'too_many_failures') return refusal
    return refused(kind === 'link' ? { code: 'login_link_spent' } : noSuchKey)
  }
  if (verdict.kind !== 'valid') return refused({ code: standingCodes[verdict.kind] })
  const { key } = verdict
  if (!isFromItsNetwork(context, request, key)) return refused({ code: 'key_network' })
  const tokens = door.signIns.of(key.keyId).take()
  if (!tokens.allowed) return refused({ code: 'rate_limited', headers: retryAfter(tokens) })
  return { kind: 'proven', keyId: key.keyId }
}

export const noSuchKey = {
  code: 'unauthorized',
  detail:
    'This is not a key of this service. Copy it whole, from pev_ to its end, or ask the operator for a new one.',
} as const

async function ofLink(
  { verifier }: ProofContext,
  { sessions }: ConsoleDoor,
  secret: string,
): Promise<KeyVerdict> {
  const keyId = linkPattern.test(secret) ? await sessions.spendLink(secret) : undefined
  return keyId === undefined ? { kind: 'unknown' } : verifier.use(keyId)
}

/** Text of another form is refused without reading the store. */
const linkPattern = /^[A-Za-z0-9_-]{22}$/

function ofKey({ verifier }: ProofContext, text: string, failures: Bucket): Promise<KeyVerdict> {
  return failures.peek().allowed ? verifier.verify(text) : verifier.verifyAmongGuesses(text)
}
