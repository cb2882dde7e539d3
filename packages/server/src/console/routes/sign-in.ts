/** `POST /console/session`: signs a person in with a key, or with a link of `property-events console` (PROTOCOL §15.3). */
import { failuresOf, isFromItsNetwork } from '../../keys/access/network.ts'
import { cookieHeader } from '../door.ts'
import type { ConsoleDoor } from '../door.ts'
import { pageOrigin } from '../own-page.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Outcome, Refused, Request } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { success } from '../../http/problem/problem.ts'
import { readMembers } from '../../http/requests/body-members.ts'
import type { Operation } from '../../http/operation.ts'
import { withSmallBody } from '../../http/requests/read-body.ts'
import { sessionMembers, sessionOperation } from './session.ts'
import type { SessionContext } from './session.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'
import type { KeyVerdict, KeyVerifier } from '../../keys/index.ts'
import { refusalAtDoor, endedKeyCodes } from '../../keys/access/access.ts'
import { retryAfter } from '../../http/rate-limit/rate-limit-headers.ts'
import type { Bucket } from '../../http/rate-limit/token-bucket.ts'

/** What signing in needs. */
export interface SignInContext extends SessionContext, BodyContext {
  readonly verifier: KeyVerifier
}

export function signIn(context: SignInContext, door: ConsoleDoor): Operation {
  return sessionOperation(context, {
    method: 'POST',
    operationId: 'signIn',
    summary: 'Sign in to the console',
    problems: ['invalid_body', 'login_link_spent'],
    call: (request, access) => begin({ context, door, request }, access),
  })
}

interface SigningIn {
  readonly context: SignInContext
  readonly door: ConsoleDoor
  readonly request: Request
}

async function begin(asked: SigningIn, access: Access): Promise<Outcome> {
  const { context, door, request } = asked
  const failures = failuresOf(context, request)
  const page = pageOrigin(request, door.place)
  if (page.kind === 'foreign') return refused(page.refusal)
  // Checked before the body is read, since it comes from a stranger.
  if (!/^application\/json\s*(?:;|$)/i.test(request.header('content-type') ?? '')) return refused(jsonOnly)
  return withSmallBody(context, request, access, async (text) => {
    const proof = readProof(text)
    if (proof.kind === 'refused') return proof
    const proven = await prove(context, door, request, proof, failures)
    return proven.kind === 'refused' ? proven : open(asked, page.origin, proof.kind, proven.keyId)
  })
}

const jsonOnly = {
  code: 'unsupported_media_type',
  detail: 'The console accepts bodies as application/json only.',
} as const

function readProof(text: string): Proof | Refused {
  const example = '{"key":"pev_…"} or {"login":"…"}'
  const reading = readMembers(text, ['key', 'login'], example)
  if (reading.kind === 'faults') return refused({ code: 'invalid_body', errors: reading.errors })
  const { members } = reading
  const isText = (given: string): boolean => given !== ''
  const key = members.matching('key', isText, 'the text of a key')
  const login = members.matching('login', isText, 'the text after #login= in a link')
  if (members.errors.length > 0) return refused({ code: 'invalid_body', errors: members.errors })
  if (key !== undefined && login === undefined) return { kind: 'pasted_key', secret: key.trim() }
  if (login !== undefined && key === undefined) return { kind: 'link', secret: login }
  const message = `The body must have one of key and login: ${example}.`
  return refused({ code: 'invalid_body', errors: [{ pointer: '', code: 'one_of_key_and_login', message }] })
}

async function open(
  { context, door, request }: SigningIn,
  origin: string,
  by: Proof['kind'],
  keyId: string,
): Promise<Outcome> {
  const found = await context.keys.findKey(keyId)
  if (found === undefined) return refused(noSuchKey)
  const before = await door.enter(request)
  const { record } = found
  const tenantIds = record.grants.map(({ tenantId }) => tenantId)
  const { session, cookie, half } = await door.sessions.begin(keyId, { by, tenantIds })
  if (before.kind === 'session') await door.sessions.end(before.session)
  const members = sessionMembers(door, origin, session, record)
  const headers = cookieHeader(door, origin, cookie)
  return uncachedAnswer({ session: half, ...members }, success.created, headers)
}

/** From what a person signs in with to the key that it stands for (PROTOCOL §15.3). */

interface Proof {
  readonly kind: 'pasted_key' | 'link'
  /** The text of the key, or the secret of the link. */
  readonly secret: string
}

/**
 * Guesses are refused as guesses at keys are (D10), and a right proof is never refused because of a stranger's failures. Rejects as the
 * store does.
 */
async function prove(
  context: SignInContext,
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
  if (verdict.kind !== 'valid') return refused({ code: endedKeyCodes[verdict.kind] })
  const { key } = verdict
  if (!isFromItsNetwork(context, request, key)) return refused({ code: 'key_network' })
  const tokens = door.signIns.of(key.keyId).take()
  if (!tokens.allowed) return refused({ code: 'rate_limited', headers: retryAfter(tokens) })
  return { kind: 'proven', keyId: key.keyId }
}

const noSuchKey = {
  code: 'unauthorized',
  detail:
    'This is not a key of this service. Copy it whole, from pev_ to its end, or ask the operator for a new one.',
} as const

async function ofLink(
  { verifier }: SignInContext,
  { sessions }: ConsoleDoor,
  secret: string,
): Promise<KeyVerdict> {
  const keyId = linkPattern.test(secret) ? await sessions.spendLink(secret) : undefined
  return keyId === undefined ? { kind: 'unknown' } : verifier.use(keyId)
}

/** Text of another form is refused without reading the store. */
const linkPattern = /^[A-Za-z0-9_-]{22}$/

function ofKey({ verifier }: SignInContext, text: string, failures: Bucket): Promise<KeyVerdict> {
  return failures.peek().allowed ? verifier.verify(text) : verifier.verifyAmongGuesses(text)
}
