/** Verifies the key of a request (spec §5, D7, D11). */
import { hash, timingSafeEqual } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { parseKeyText, sandboxTenantId } from '@property-events/protocol'
import type { AdminScope, ParsedKey } from '@property-events/protocol'
import type { FoundKey, Grant, KeyRate, KeyReading, KeyStore } from './key.ts'
import { reported, unreported } from '../runtime/background-task.ts'
import type { TaskReport } from '../runtime/background-task.ts'
import { BoundedMap } from '../runtime/bounded-map.ts'
import { admissionOf } from '../tenants/tenant-state.ts'
import { allowedNetworks } from './allowed-networks.ts'
import { cachedFinder, keyVerdictCache } from './key-cache.ts'
import { keyIdCache } from './key-id-cache.ts'
import { hashSecret } from './pepper.ts'
import type { Pepper } from './pepper.ts'
import { createUseLog } from './use-log.ts'

/** A key whose secret was right. */
export interface VerifiedKey {
  readonly keyId: string
  readonly label: string
  /** The key manages tenants and keys, and reads no feed. */
  readonly operator: boolean
  /** Without the grants of tenants that are suspended or have left. */
  readonly grants: readonly Grant[]
  /** Tenants of the grants that are leaving: nothing more is published for them. */
  readonly leavingTenantIds: readonly string[]
  /** Tenants of the grants whose receipts say nothing of duties by law. */
  readonly withoutDuties: readonly string[]
  /** Tenants of the grants whose views of the granted branches are being built. Their properties cannot be read yet. */
  readonly viewsBeingMade: readonly string[]
  /** The key's own rate; `undefined`: the default rate. */
  readonly rate: KeyRate | undefined
  /** Only an operator key has any. */
  readonly adminScopes: readonly AdminScope[]
  /** The networks that the key works from; `undefined`: any. */
  readonly networks: { has(address: string): boolean } | undefined
  /** How the key reads, if not as usual. */
  readonly reading: KeyReading | undefined
}

export type KeyVerdict =
  | { readonly kind: 'valid'; readonly key: VerifiedKey }
  /** Missing, malformed, wrong checksum, unknown id or wrong secret. The answer does not say which (D7). */
  | { readonly kind: 'unknown' }
  /** `disabled`: every tenant that the key was granted is suspended or has left. */
  | { readonly kind: 'expired' | 'revoked' | 'disabled'; readonly key: VerifiedKey }

export interface KeyVerifier {
  /** Rejects only with the store's `StorageFailure`. */
  verify(text: string | undefined): Promise<KeyVerdict>
  /** The key, if `verify` would find it valid without a query, because it did so less than a second ago. */
  verifyKnown(text: string | Uint8Array): VerifiedKey | undefined
  /**
   * Like `verify`, for a caller whose address has sent too many wrong keys (D10). A key that exists is recognised at once. One that was
   * made within the last second waits for a second. Anything else costs the store nothing. For every text that could be a key, `unknown`
   * comes after that second, so that the time reveals no ids.
   */
  verifyAmongGuesses(text: string | undefined): Promise<KeyVerdict>
  /**
   * What has become of a key that was found valid before. The answer is never `unknown` unless the key is gone from the store. While
   * nothing changes the object stays the same, so a waiting request need not compare anything. It is also `unknown` for a test key if test keys
   * do not work here.
   */
  check(keyId: string): Promise<KeyVerdict>
  /**
   * Like `check`, for a request that comes with a session instead of the key's text. It counts as a use.
   */
  use(keyId: string): Promise<KeyVerdict>
  /** Writes the collected last uses now; otherwise they are written twice a minute. */
  flushUses(): Promise<void>
  /** Stops the timer and writes one last time. */
  close(): Promise<void>
}

interface KeyVerifierOptions {
  readonly keys: KeyStore
  /** At least one. The first takes the place of a pepper that is not known. */
  readonly peppers: readonly Pepper[]
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /**
   * How long an answer of the store may be used again, in milliseconds. A revocation must take effect within 2 s (D11). Default: 1000.
   */
  readonly cacheMs?: number
  /** Whether test keys work (PROTOCOL §2.8). Default: no; the store is then never asked about them. */
  readonly testKeys?: boolean
  /** Reports what is read and written in the background. */
  readonly report?: TaskReport
  /** Resolves after the given number of milliseconds. Default: Node's timers. */
  readonly delay?: (ms: number) => Promise<void>
}

interface ProvenKey {
  readonly found: FoundKey
  readonly key: VerifiedKey
  /** The key does not change before this time. */
  readonly untilMs: number
}

const provenLimit = 20_000
/** Takes the place of the stored hash if there is none. No secret has this hash. */
const noHash = new Uint8Array(32)

export function createKeyVerifier(options: KeyVerifierOptions): KeyVerifier {
  const { keys, peppers, clock, delay = wait, report = unreported } = options
  if (peppers.length === 0) throw new Error('a key verifier needs a pepper')
  const finder = cachedFinder(keys, clock, options.cacheMs ?? 1000)
  const uses = createUseLog(keys, report)
  const ids = keyIdCache(keys, clock, delay, report)
  // The store's answer with which a key was last proven, by a hash of the whole key. While the answer is the same (for
  // at most a second), the HMAC need not be made again: 4 of the 6 µs of a verification (measured manually).
  const proven = new BoundedMap<string, ProvenKey>(provenLimit)
  const rehash = secretRehasher(keys, peppers, report)
  async function verify(text: string | undefined): Promise<KeyVerdict> {
    const parts = partsOf(text, options)
    if (text === undefined || parts === undefined) return { kind: 'unknown' }
    const found = await finder.find(parts.keyId)
    const digest = digestOf(text)
    const before = proven.get(digest)
    const isProven = found !== undefined && before?.found === found
    if (!isProven && !secretMatches(peppers, found, parts.secret)) return { kind: 'unknown' }
    if (found === undefined || !opensOwnSide(parts, found)) return { kind: 'unknown' }
    const nowMs = clock()
    // The same object while nothing changes, so that others can keep with it what they derive from thousands of grants.
    const isSame = isProven && nowMs < before.untilMs
    const key = isSame ? before.key : verifiedKey(found, nowMs)
    if (!isSame) proven.set(digest, { found, key, untilMs: nextEndOf(found, nowMs) })
    const kind = keyState(found, key, nowMs)
    if (kind !== 'valid') return { kind, key }
    if (!isProven) void rehash(found, parts.secret)
    uses.record(key.keyId, nowMs)
    return { kind, key }
  }

  return {
    verify,

    async verifyAmongGuesses(text) {
      const parts = partsOf(text, options)
      if (parts === undefined) return { kind: 'unknown' }
      if (ids.has(parts.keyId)) {
        const verdict = await verify(text)
        if (verdict.kind !== 'unknown') return verdict
        await ids.renewed()
        return verdict
      }
      const isRenewed = await ids.renewed()
      return isRenewed && ids.has(parts.keyId) ? verify(text) : { kind: 'unknown' }
    },

    verifyKnown(text) {
      const digest = digestOf(text)
      const entry = proven.get(digest)
      if (entry === undefined || finder.cached(entry.key.keyId) !== entry.found) return undefined
      const nowMs = clock()
      if (nowMs >= entry.untilMs || keyState(entry.found, entry.key, nowMs) !== 'valid') return undefined
      uses.record(entry.key.keyId, nowMs)
      return entry.key
    },

    check: keyVerdictCache(finder, clock, (found, nowMs) => verdictOf(found, nowMs, options), verdictEndOf),

    async use(keyId) {
      const verdict = verdictOf(await finder.find(keyId), clock(), options)
      if (verdict.kind === 'valid') uses.record(keyId, clock())
      return verdict
    },

    flushUses: () => uses.flush(),
    close: () => uses.close(),
  }
}

/** The verdict for a key whose secret is not checked: what `verify` says of the text that opens it. */
function verdictOf(
  found: FoundKey | undefined,
  nowMs: number,
  { testKeys = false }: Pick<KeyVerifierOptions, 'testKeys'>,
): KeyVerdict {
  if (found === undefined) return { kind: 'unknown' }
  const isTest = isTestKey(found)
  if ((isTest && !testKeys) || !opensOwnSide({ isTest }, found)) return { kind: 'unknown' }
  const key = verifiedKey(found, nowMs)
  return { kind: keyState(found, key, nowMs), key }
}

/** `undefined`: the text is not a key, or it is a test key and test keys do not work here. */
function partsOf(
  text: string | undefined,
  { testKeys = false }: Pick<KeyVerifierOptions, 'testKeys'>,
): ParsedKey | undefined {
  const parts = text === undefined ? undefined : parseKeyText(text)
  return parts?.isTest === true && !testKeys ? undefined : parts
}

/**
 * A test key opens the sandbox and nothing else; any other key opens everything else. Only this function decides it, for every operation
 * (P10).
 */
function opensOwnSide(
  { isTest }: Pick<ParsedKey, 'isTest'>,
  { record: { operator, grants } }: FoundKey,
): boolean {
  if (isTest && (operator || grants.length === 0)) return false
  return grants.every(({ tenantId }) => (tenantId === sandboxTenantId) === isTest)
}

function isTestKey({ record: { grants } }: FoundKey): boolean {
  return grants.some(({ tenantId }) => tenantId === sandboxTenantId)
}

/** Takes the same time whether or not the id exists, and whether or not the secret is right. */
function secretMatches(peppers: readonly Pepper[], found: FoundKey | undefined, secret: string): boolean {
  const pepper = peppers.find(({ pepperId }) => pepperId === found?.record.pepperId)
  const standIn = pepper ?? peppers[0]
  if (standIn === undefined) return false
  const actual = hashSecret(standIn, secret)
  const expected = found?.record.secretHash ?? noHash
  const equal = expected.length === actual.length && timingSafeEqual(actual, expected)
  return equal && found !== undefined && pepper !== undefined
}

/** Replaces an old hash. The service knows the secret only while the key's owner uses the key (docs/decisions/0014). */
function secretRehasher(
  keys: Pick<KeyStore, 'rehashKey'>,
  peppers: readonly Pepper[],
  report: TaskReport,
): (found: FoundKey, secret: string) => Promise<void> {
  /** Keys that are being hashed with the present pepper. Each is hashed once at a time. */
  const underWay = new Set<string>()
  return async ({ record, currentPepperId }, secret) => {
    const { keyId, pepperId } = record
    const current = peppers.find((candidate) => candidate.pepperId === currentPepperId)
    if (current === undefined || pepperId === current.pepperId || underWay.has(keyId)) return
    underWay.add(keyId)
    const hashed = { secretHash: hashSecret(current, secret), pepperId: current.pepperId }
    // After a failure, the next use tries again.
    await reported(report, 'rehash_key', keys.rehashKey(keyId, pepperId, hashed, 'service'))
    underWay.delete(keyId)
  }
}

function verifiedKey(found: FoundKey, nowMs: number): VerifiedKey {
  const { keyId, label, operator, grants, rate, adminScopes = [], networks, reading } = found.record
  const admits = admissionOf(found, nowMs)
  return {
    keyId,
    label,
    operator,
    // Whatever the store says, a key is either an operator key or a tenants' key.
    grants: operator ? [] : grants.filter((grant) => admits(grant.tenantId)),
    leavingTenantIds: found.leaving.map(({ tenantId }) => tenantId),
    withoutDuties: found.withoutDuties ?? [],
    viewsBeingMade: found.viewsBeingMade ?? [],
    rate,
    adminScopes: operator ? adminScopes : [],
    networks: networks && allowedNetworks(networks),
    reading,
  }
}

/** When reading ends for the next of the key's tenants that are leaving. */
function nextEndOf({ leaving }: FoundKey, nowMs: number): number {
  const ends = leaving.map(({ readingEndsMs }) => readingEndsMs).filter((endMs) => endMs > nowMs)
  return Math.min(Infinity, ...ends)
}

/** When the key expires, or reading ends of one of its tenants. */
function verdictEndOf(found: FoundKey | undefined, nowMs: number): number {
  if (found === undefined) return Infinity
  const { expiresMs = Infinity } = found.record
  return Math.min(nextEndOf(found, nowMs), expiresMs > nowMs ? expiresMs : Infinity)
}

/** The final reason comes first: a revoked key never works again, while an expired one may be extended. */
function keyState(found: FoundKey, key: VerifiedKey, nowMs: number): Exclude<KeyVerdict['kind'], 'unknown'> {
  const { revokedMs, expiresMs, operator } = found.record
  if (revokedMs !== undefined) return 'revoked'
  if (expiresMs !== undefined && nowMs >= expiresMs) return 'expired'
  return operator || key.grants.length > 0 ? 'valid' : 'disabled'
}

function digestOf(text: string | Uint8Array): string {
  return hash('sha256', text, 'base64')
}
