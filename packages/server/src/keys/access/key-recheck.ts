/**
 * Ends waiting requests when their key ends, and when the service stops (D11). Each key is checked once for all its requests: with a
 * thousand waiting readers, checks by each of them twice a second took 5 % of a core.
 */
import { EndController } from '../../runtime/end-signal.ts'
import type { EndSignal } from '../../runtime/end-signal.ts'
import type { KeyVerdict, KeyVerifier } from '../index.ts'

/** What a request came with in place of a key. */
interface OpenSession {
  readonly isOpen: () => Promise<boolean>
}

/** A waiting request. */
export interface WatchedKey {
  /** Aborted when the reader has gone, when `isOver` says so of its key, when the service stops, and when the store does not answer. */
  readonly signal: EndSignal
  /** The request has been answered. Safe to call twice, and not needed once the reader has gone. */
  readonly end: () => void
}

export interface KeyRecheck {
  /**
   * Watches the key for a waiting request. `isOver`: whether the present state of the key ends the request; called once, and whenever
   * that state has changed. `gone`: aborted when the reader has gone. `session`: what the request came with in place of the key; the
   * request also ends when the session does.
   */
  watch(
    keyId: string,
    isOver: (verdict: KeyVerdict) => boolean,
    gone: EndSignal,
    session?: OpenSession,
  ): WatchedKey
}

/** Revocation takes effect within 2 s, and cached knowledge of a key takes one of them. */
const recheckEveryMs = 500

interface Watch {
  /** What was known of the key when the request was last checked: while it is the same, so is the answer. */
  verdict: KeyVerdict | undefined
  readonly isOver: (verdict: KeyVerdict) => boolean
  readonly abort: () => void
  readonly session: OpenSession | undefined
}

export function createKeyRecheck(verifier: Pick<KeyVerifier, 'check'>, stopping: () => boolean): KeyRecheck {
  const byKey = new Map<string, Set<Watch>>()
  let timer: NodeJS.Timeout | undefined

  async function recheck(keyId: string, watches: ReadonlySet<Watch>): Promise<void> {
    const verdict = await verifier.check(keyId).catch(() => undefined)
    for (const watch of watches) {
      if (verdict === undefined || stopping() || isOver(watch, verdict)) watch.abort()
      else if (watch.session !== undefined && !(await lasts(watch.session))) watch.abort()
    }
  }

  async function recheckAll(): Promise<void> {
    await Promise.all([...byKey].map(([keyId, watches]) => recheck(keyId, watches)))
    timer = byKey.size === 0 ? undefined : later()
  }

  const later = (): NodeJS.Timeout => setTimeout(() => void recheckAll(), recheckEveryMs).unref()

  return {
    watch(keyId, isOver, gone, session) {
      const over = new EndController()
      const abort = (): void => over.abort()
      const watch: Watch = { verdict: undefined, isOver, abort, session }
      const watches = byKey.get(keyId) ?? new Set()
      byKey.set(keyId, watches.add(watch))
      const end = (): void => {
        gone.removeEventListener('abort', leave)
        watches.delete(watch)
        if (watches.size === 0 && byKey.get(keyId) === watches) byKey.delete(keyId)
      }
      const leave = (): void => {
        end()
        abort()
      }
      if (gone.aborted) leave()
      else gone.addEventListener('abort', leave)
      if (byKey.size > 0) timer ??= later()
      return { signal: over, end }
    },
  }
}

function isOver(watch: Watch, verdict: KeyVerdict): boolean {
  if (watch.verdict === verdict) return false
  watch.verdict = verdict
  return watch.isOver(verdict)
}

function lasts({ isOpen }: OpenSession): Promise<boolean> {
  return isOpen().catch(() => false)
}
