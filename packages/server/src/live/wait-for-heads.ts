/** `GET /v1/heads` with `wait`: answered once one of many feeds has moved (PROTOCOL §13.3). */
import type { WaitingReaders } from './waiting-readers.ts'
import type { ReadableFeeds, ChangedFeeds } from './changed-feeds.ts'
import type { Grant } from '../keys/key.ts'
import { refused, uncachedJson } from '../http/exchange.ts'
import type { KeyVerdict } from '../keys/index.ts'
import type { Outcome, Request } from '../http/exchange.ts'
import type { Access } from '../http/access.ts'
import { refusalNow, watchRight } from '../keys/access/still-granted.ts'
import { headsAnswer, readableOf } from '../reading/routes/heads-answer.ts'
import type { KeyGrants, HeadsContext } from '../reading/routes/heads-answer.ts'
import type { RightsContext } from '../keys/access/still-granted.ts'

/** What waiting for heads needs. */
export interface HeadsWaitContext extends HeadsContext, RightsContext {
  readonly moved: ChangedFeeds
  readonly waiting: WaitingReaders
}

interface HeadsRequest {
  readonly request: Request
  readonly access: Access
}

/**
 * Answers as soon as a feed that the key reads has moved since the token, or after `waitMs` without any. Answers earlier if the service
 * stops, or the key's feeds have changed. An answer without feeds costs no token of the key's rate (D10).
 */
export async function waitForHeads(
  context: HeadsWaitContext,
  asked: HeadsRequest,
  since: string | undefined,
  waitMs: number,
): Promise<Outcome> {
  const leave = context.waiting.enter(asked.access.keyId ?? '', 'heads')
  if (leave === undefined) return refused({ code: 'too_many_waiting' })
  try {
    return await whileWaiting(context, asked, since, performance.now() + waitMs)
  } finally {
    leave()
  }
}

async function whileWaiting(
  context: HeadsWaitContext,
  { request, access }: HeadsRequest,
  since: string | undefined,
  untilMs: number,
): Promise<Outcome> {
  const readable = readableOf(access)
  let seen = access.grants
  let isSame = true
  const isOther = (verdict: KeyVerdict): boolean => {
    if (verdict.kind === 'valid' && verdict.key.grants !== seen) {
      seen = verdict.key.grants
      isSame = reads(verdict.key, access.grants, readable)
    }
    return !isSame
  }
  const watched = watchRight(context, request, access, isOther)
  try {
    const leftMs = Math.max(0, untilMs - performance.now())
    const moved = await context.moved.wait(since, readable, leftMs, watched.signal)
    const refusal = await refusalNow(context, request, access)
    if (refusal !== undefined) return refused(refusal)
    // Feeds that the key may no longer read are left out: its next request is checked again.
    const visible = isOther(await context.verifier.check(access.keyId ?? '')) ? { ...moved, keys: [] } : moved
    return {
      ...(await headsAnswer(context, readable, visible, uncachedJson)),
      isFree: visible.keys.length === 0,
    }
  } finally {
    watched.end()
  }
}

/** Whether the key still reads the same of these tenants, with the same views ready. */
function reads(key: KeyGrants, asked: readonly Grant[], readable: ReadableFeeds): boolean {
  const tenants = new Set(asked.map(({ tenantId }) => tenantId))
  const grants = key.grants.filter(({ tenantId }) => tenants.has(tenantId))
  return readableOf({ grants, viewsBeingMade: key.viewsBeingMade }).print === readable.print
}
