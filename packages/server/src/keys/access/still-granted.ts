/**
 * Whatever holds a connection or a body for longer than a moment asks here whether its key may still do what it was let in for, and loses
 * that within 2 s, as a new request would (D11, PROTOCOL §2.5): streams, long-polls, waits for heads, snapshots and long pages under way,
 * reads that waited, and bodies that came slowly; each with a key or with a session of the console.
 */
import { isDeepStrictEqual } from 'node:util'
import type { KeyVerdict, KeyVerifier } from '../index.ts'
import { decideAccess } from './access.ts'
import type { Request, StreamAnswer } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import type { WatchedKey, KeyRecheck } from './key-recheck.ts'
import type { Refusal } from '../../http/problem/problem.ts'
import type { NetworkContext } from './network.ts'

/** What asking again needs. */
export interface RightsContext extends Pick<NetworkContext, 'trustedProxies'> {
  readonly recheck: KeyRecheck
  readonly verifier: KeyVerifier
}

/** Verified keys are used for a second without a question, so an answer that took no longer is as good as one given at once. */
const momentMs = 1_000

/** Watches the right of a request that waits. `isOther`: whether the verdict changes the answer although the request is still granted. */
export function watchRight(
  context: RightsContext,
  request: Request,
  access: Access,
  isOther: (verdict: KeyVerdict) => boolean = () => false,
): WatchedKey {
  return context.recheck.watch(
    access.keyId ?? '',
    (verdict) => refusalOf(context, request, access, verdict) !== undefined || isOther(verdict),
    request.gone,
    access.session,
  )
}

/** Why a request that was let in would be refused now. Rejects as the store does. */
export async function refusalNow(
  context: RightsContext,
  request: Request,
  access: Access,
): Promise<Refusal | undefined> {
  if ((await access.session?.isOpen()) === false) return { code: 'console_session_ended' }
  return refusalOf(context, request, access, await context.verifier.check(access.keyId ?? ''))
}

/** The same for a request that has taken more than a moment; `undefined` at once for all others. */
export function refusalIfLate(
  context: RightsContext,
  request: Request,
  access: Access | undefined,
): undefined | Promise<Refusal | undefined> {
  if (access?.asked === undefined || performance.now() - request.startedMs < momentMs) return undefined
  return refusalNow(context, request, access)
}

/** The answer, cut off when its reader may no longer have it. */
export function watchedAnswer(
  context: RightsContext,
  request: Request,
  access: Access | undefined,
  answer: StreamAnswer,
): StreamAnswer {
  if (access?.asked === undefined) return answer
  const watched = watchRight(context, request, access)
  const release = (): void => {
    watched.end()
    answer.release()
  }
  return { ...answer, over: watched.signal, release }
}

const changed: Refusal = {
  code: 'key_disabled',
  detail: 'What this key can read has changed while the request waited. Try again.',
}

function refusalOf(
  context: RightsContext,
  request: Request,
  access: Access,
  verdict: KeyVerdict,
): Refusal | undefined {
  const { asked } = access
  if (asked === undefined) return undefined
  const now = decideAccess(context, request, verdict, asked.need, asked.tenant)
  if (now.kind === 'refused') return now.refusal
  return isSameView(access, now) ? undefined : changed
}

/** Other branches, roles or fields are another view of the feed, so its reader has to begin again with it. */
function isSameView(before: Access, now: Access): boolean {
  return (
    before.tenantId === now.tenantId &&
    isDeepStrictEqual(before.branches, now.branches) &&
    isDeepStrictEqual(before.contact, now.contact)
  )
}
