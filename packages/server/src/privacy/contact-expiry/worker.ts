/** Erases contacts that have not changed for a long time, after a time on a list (D17, docs/decisions/0034). */
import type { ErasureStore } from '../erasure/erasure.ts'
import { uuidV7 } from '@property-events/protocol'
import { isFeedRefusal } from '../../events/feed.ts'
import { beginningOfDay, millisecondsPerDay, ticksOfMilliseconds } from '../retention/rules.ts'
import { expiryDayMs, expiryNoticeDays, listedContacts } from './contact-expiry.ts'
import type { ExpiringContact, ExpiryStore } from './contact-expiry.ts'

const contactsPerStep = 200

type Storage = { readonly erasures: ErasureStore; readonly expiry: ExpiryStore }

interface ExpiringParts {
  readonly storage: Storage
  readonly tenantId: string
  readonly days: number
  readonly nowMs: number
  readonly signal: AbortSignal
  /** Called after each erasure that was begun, with the milliseconds it took: others have the writer meanwhile. Left out: no rest. */
  readonly rest?: (tookMs: number) => Promise<void>
}

/**
 * Puts contacts on the list that are due within the notice period, and begins the erasure of those whose day has come: an ordinary
 * erasure, which continues by itself. A contact that has changed meanwhile is left alone. Returns false if it has to
 * try again later: the feed accepts no changes at the moment, or the clock is behind.
 */
export async function expireContacts(parts: ExpiringParts): Promise<boolean> {
  const { storage, tenantId, days, nowMs, signal } = parts
  const todayMs = beginningOfDay(nowMs)
  const before = ticksOfMilliseconds(todayMs + (expiryNoticeDays - days) * millisecondsPerDay)
  const step = { tenantId, before, todayMs, limit: contactsPerStep }
  while (!signal.aborted && (await storage.expiry.enlist(step)) > 0) continue
  for await (const contact of listedContacts(storage.expiry, tenantId)) {
    if (signal.aborted) return false
    if (expiryDayMs(contact, days) > todayMs) continue
    const startedMs = performance.now()
    const outcome = await eraseContact(storage, tenantId, contact, nowMs)
    if (outcome === 'later') return false
    if (outcome === 'begun') await parts.rest?.(performance.now() - startedMs)
  }
  return true
}

async function eraseContact(
  { erasures }: Storage,
  tenantId: string,
  { subjectId, position }: ExpiringContact,
  nowMs: number,
): Promise<'begun' | 'left' | 'later'> {
  const outcome = await erasures.beginUnchanged(
    {
      erasureId: uuidV7(nowMs),
      key: { tenantId, feed: 'contact' },
      target: { kind: 'subject', subjectId },
      reason: 'no_longer_needed',
      caseRef: undefined,
      receivedOn: undefined,
      actor: 'service',
      closingEventId: uuidV7(nowMs),
    },
    position,
  )
  if (outcome.kind === 'begun') return 'begun'
  return isFeedRefusal(outcome) || outcome.kind === 'clockBehind' ? 'later' : 'left'
}
