/** Who is signed in. */
import { signal } from '@preact/signals'
import { base } from '../root.ts'
import type { Key } from '@property-events/protocol/wire'
import { onSessionEnded, send } from '../service/call.ts'
import type { Failure, Outcome } from '../service/failure.ts'
import { keepToken, readToken, watchToken } from './session-token.ts'

/** The door's answer about a session. */
interface Session {
  readonly key: Key
  readonly createdAt: string
  readonly expiresAt: string
  readonly idleEndsAt: string
  /** Until then the door does not ask for the key or a link again. */
  readonly freshUntil: string
  /** The hosts whose photographs this page may show. */
  readonly images: { readonly own: boolean; readonly hosts: readonly string[] }
  /** The address at which others reach the service, for samples; without a slash at its end. */
  readonly serviceUrl: string
}

type SessionState =
  /** The answer is pending. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'signedIn'; readonly session: Session }
  /** `why`: what ended the last session, or refused the last attempt. */
  | { readonly kind: 'signedOut'; readonly why: Failure | undefined }
  /** Unknown, because the service does not answer. */
  | { readonly kind: 'away'; readonly why: Failure }

export const sessionState = signal<SessionState>({ kind: 'unknown' })

/** What a user signs in with: a key, or the secret of a link. */
type Proof = { readonly key: string } | { readonly login: string }

const url = `${base}/session`

/** Signs in, or signs in again when the door asks for it. `undefined`: it worked. */
export async function signIn(proof: Proof): Promise<Failure | undefined> {
  const outcome = await send<Session & { readonly session: string }>(url, { method: 'POST', body: proof })
  if (outcome.kind !== 'answer') return outcome.kind === 'failure' ? outcome.failure : undefined
  const { session: token, ...session } = outcome.value
  keepToken(token)
  sessionState.value = { kind: 'signedIn', session }
  return undefined
}

/** Ends the session everywhere. The token is forgotten even if the service does not answer. */
export async function signOut(): Promise<void> {
  await send<undefined>(url, { method: 'DELETE' })
  keepToken(undefined)
  sessionState.value = { kind: 'signedOut', why: undefined }
}

/** Asks for the session that this browser has, or uses the link that it was opened with. */
export async function beginSession(login: string | undefined): Promise<void> {
  onSessionEnded((why) => end(why))
  watchToken(() => void takeUp())
  if (login === undefined) return takeUp()
  const refusal = await signIn({ login })
  if (refusal === undefined) return undefined
  // A used link may be the user's own of an hour ago, so whoever is signed in stays signed in.
  if (readToken() !== undefined) await takeUp()
  if (sessionState.value.kind !== 'signedIn') end(refusal)
  return undefined
}

/** Asks again for a session whose token this browser has. */
export async function takeUp(): Promise<void> {
  if (readToken() === undefined) {
    sessionState.value = { kind: 'signedOut', why: undefined }
    return
  }
  take(await send<Session>(url, {}))
}

function take(outcome: Outcome<Session>): void {
  if (outcome.kind === 'answer') sessionState.value = { kind: 'signedIn', session: outcome.value }
  else if (outcome.kind === 'failure') end(outcome.failure)
}

function end(why: Failure): void {
  if (why.kind === 'ended') keepToken(undefined)
  const isOver = why.kind === 'ended' || why.kind === 'problem'
  sessionState.value = isOver ? { kind: 'signedOut', why } : { kind: 'away', why }
}

/** The session of a view. Views are shown only with a session. */
export function signedIn(): Session {
  if (sessionState.value.kind !== 'signedIn') throw new Error('Nobody is signed in.')
  return sessionState.value.session
}
