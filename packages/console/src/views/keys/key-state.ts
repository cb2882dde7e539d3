/** The state of a key, in one word for the list, and what to do about it. */
import type { Key } from '@property-events/protocol/wire'
import { readTime } from '../../words/times.ts'

type KeyState =
  | { readonly kind: 'revoked'; readonly atMs: number }
  | { readonly kind: 'ended'; readonly atMs: number }
  /** Another key has replaced it; it works until then. */
  | { readonly kind: 'replaced'; readonly endsMs: number; readonly by: string }
  | { readonly kind: 'endsSoon'; readonly endsMs: number }
  /** It works, but has not been used for 90 days. */
  | { readonly kind: 'unused'; readonly sinceMs: number }
  /** It has never been used since it was made, 90 days ago or earlier. */
  | { readonly kind: 'neverUsed'; readonly sinceMs: number }
  | { readonly kind: 'active' }

const dayMs = 86_400_000
const unusedAfterMs = 90 * dayMs
const endsSoonMs = 14 * dayMs

/** `by`: the id of the key that replaced it, if there is one. */
export function keyState(key: Key, by: string | undefined, nowMs: number): KeyState {
  const revokedMs = readTime(key.revokedAt)
  if (revokedMs !== undefined && revokedMs <= nowMs) return { kind: 'revoked', atMs: revokedMs }
  const endsMs = readTime(key.expiresAt)
  if (endsMs !== undefined && endsMs <= nowMs) return { kind: 'ended', atMs: endsMs }
  if (endsMs !== undefined && by !== undefined) return { kind: 'replaced', endsMs, by }
  if (endsMs !== undefined && endsMs - nowMs <= endsSoonMs) return { kind: 'endsSoon', endsMs }
  const usedMs = readTime(key.lastUsedAt)
  const madeMs = readTime(key.createdAt) ?? nowMs
  if (usedMs === undefined) {
    return nowMs - madeMs >= unusedAfterMs ? { kind: 'neverUsed', sinceMs: madeMs } : { kind: 'active' }
  }
  return nowMs - usedMs >= unusedAfterMs ? { kind: 'unused', sinceMs: usedMs } : { kind: 'active' }
}

export function hasEnded({ kind }: KeyState): boolean {
  return kind === 'revoked' || kind === 'ended'
}

/** `active`, `ends in 21 h 14 min`, `not used for 120 d`, … */
export function stateWords(state: KeyState, nowMs: number): string {
  switch (state.kind) {
    case 'revoked':
      return `revoked ${leftText(nowMs - state.atMs)} ago`
    case 'ended':
      return `ended ${leftText(nowMs - state.atMs)} ago`
    case 'replaced':
    case 'endsSoon':
      return `ends in ${leftText(state.endsMs - nowMs)}`
    case 'unused':
      return `not used for ${leftText(nowMs - state.sinceMs)}`
    case 'neverUsed':
      return `never used in ${leftText(nowMs - state.sinceMs)}`
    case 'active':
      break
  }
  return 'active'
}

/** The time left, in the two largest units: `6 d 3 h`, `21 h 14 min`, `42 min 10 s`, `9 s`. From a hundred days on, only days. */
export function leftText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
  ]
  if (days >= 100) return `${days} d`
  if (days > 0) return hours === 0 ? `${days} d` : `${days} d ${hours} h`
  if (hours > 0) return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`
  if (minutes > 0) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  return `${seconds} s`
}

export interface KeyLine {
  readonly key: Key
  readonly state: KeyState
  /** It is listed below the one that replaced it. */
  readonly isOld: boolean
}

/** Newest first, each followed by those that it replaced. Keys that have ended are left out unless requested. */
export function keyLines(
  keys: readonly Key[],
  nowMs: number,
  withEnded: (key: Key) => boolean,
): readonly KeyLine[] {
  const byId = new Map(keys.map((key) => [key.keyId, key]))
  const replacedBy = new Map(
    keys.flatMap(({ keyId, replaces }) => (replaces === null ? [] : [[replaces, keyId] as const])),
  )
  const lines: KeyLine[] = []
  const put = (key: Key, isOld: boolean): void => {
    const state = keyState(key, replacedBy.get(key.keyId), nowMs)
    if (withEnded(key) || !hasEnded(state)) lines.push({ key, state, isOld })
  }
  const seen = new Set<string>()
  for (const key of keys.toReversed()) {
    if (replacedBy.has(key.keyId) || seen.has(key.keyId)) continue
    seen.add(key.keyId)
    put(key, false)
    for (let old = olderOf(key, byId); old !== undefined && !seen.has(old.keyId); old = olderOf(old, byId)) {
      seen.add(old.keyId)
      put(old, true)
    }
  }
  return lines
}

function olderOf({ replaces }: Key, byId: ReadonlyMap<string, Key>): Key | undefined {
  return replaces === null ? undefined : byId.get(replaces)
}

/** The scopes of a key, for the list: those it has in a tenant, or as an operator. */
export function scopeWords(key: Key, tenantId: string | undefined): string {
  if (key.operator) return key.scopes.join(', ')
  const grants =
    tenantId === undefined ? key.grants : key.grants.filter((grant) => grant.tenantId === tenantId)
  return [...new Set(grants.flatMap(({ scopes }) => scopes))].join(', ')
}

/** `pev_7Hq2…`: enough of a key to recognise it, and nothing secret. */
export function keyPrefix({ keyId }: Pick<Key, 'keyId'>): string {
  return `pev_${keyId.slice(0, 4)}…`
}
