/**
 * The first key with a set of branches is answered although their events have to be collected first: its request waits for them for some
 * seconds, which is enough for an agency of the usual size (PROTOCOL §2.9).
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { KeyVerdict, KeyVerifier } from '../index.ts'
import type { Refused, Request } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { WaitingReaders } from '../../live/waiting-readers.ts'

export interface ViewWaitContext {
  readonly limits: ServiceLimits
  /** True once the service is stopping: connections then close with their next answer. */
  readonly stopping: () => boolean
  readonly verifier: KeyVerifier
  readonly waiting: WaitingReaders
}

/** How often a waiting request looks at its key, which changes when the view is ready. */
const checkEveryMs = 100

/** Filling a view takes a minute or so for a feed of a million events, and a second for an agency's feed. */
export const viewBeingMade = { code: 'view_being_made', headers: { 'retry-after': '2' } } as const

type Decided = Access | Refused

export function isViewBeingMade(decided: Decided): decided is Refused {
  return decided.kind === 'refused' && decided.refusal.code === 'view_being_made'
}

/** Decides again until the view is ready, or the request has waited long enough. Refused at once if too many requests wait. */
export async function whenViewMade(
  context: Pick<ViewWaitContext, 'limits' | 'stopping' | 'verifier' | 'waiting'>,
  { gone }: Request,
  keyId: string,
  refusal: Refused,
  decide: (verdict: KeyVerdict) => Decided,
): Promise<Decided> {
  const leave = context.waiting.enter(keyId, 'long_poll')
  if (leave === undefined) return refusal
  const untilMs = performance.now() + context.limits.minSequenceWaitMs
  try {
    let decided: Decided = refusal
    while (isViewBeingMade(decided) && performance.now() < untilMs && !gone.aborted && !context.stopping()) {
      await delay(checkEveryMs)
      decided = decide(await context.verifier.check(keyId))
    }
    return decided
  } finally {
    leave()
  }
}
