/** What commands about keys accept, and how they show a key. */
import { adminScopes, grantScopes, parseKeyText } from '@property-events/protocol'
import type { AdminScope, GrantScope } from '@property-events/protocol'
import {
  branchScopes,
  grantedBranches,
  isNetwork,
  maxBranchLength,
  maxGrantedBranches,
  unlimitedScope,
} from '@property-events/server'
import type { KeyRecord } from '@property-events/server'
import { didYouMean } from '../suggest.ts'
import { readingJson } from './key-reading.ts'
import { momentJson, momentText, momentWords, readMoment } from '../timestamp-option.ts'
import { commandLine } from '../program-name.ts'
import type { SettingReader } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'

export function gather(written: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...written.split(/[\s,]+/).filter((part) => part !== '')]
}

/** Names of tenants contain spaces and commas. */
export function gatherWhole(written: string, before: readonly string[] = []): readonly string[] {
  return [...before, written]
}

export function wordsOf(flag: unknown): readonly string[] {
  return Array.isArray(flag) ? flag.map(String) : []
}

/** For a tenant's key; `read` and `publish` mean both of a kind. */
export function readScopes(written: unknown, reader: SettingReader): readonly GrantScope[] {
  const kinds = ['read', 'publish']
  return readWords(wordsOf(written), grantScopes, kinds, reader)
}

/** For an operator key. */
export function readAdminScopes(written: unknown, reader: SettingReader): readonly AdminScope[] {
  return readWords(wordsOf(written), adminScopes, [], reader)
}

/** `kinds`: each means all scopes that end with it. */
function readWords<Word extends string>(
  written: readonly string[],
  allowed: readonly Word[],
  kinds: readonly string[],
  reader: SettingReader,
): readonly Word[] {
  const wanted = new Set<Word>()
  const known = [...allowed, ...kinds]
  for (const word of written) {
    const matching = allowed.filter(
      (scope) => scope === word || (kinds.includes(word) && scope.endsWith(`:${word}`)),
    )
    if (matching.length === 0) {
      const meant = didYouMean(word, known)
      reader.fault(`"${plainText(word)}" is not a scope; the scopes are ${known.join(', ')}.${meant}`)
    }
    for (const scope of matching) wanted.add(scope)
  }
  return allowed.filter((scope) => wanted.has(scope))
}

export function readNetworks(written: unknown, reader: SettingReader): readonly string[] {
  const networks = wordsOf(written)
  const wrong = networks.find((one) => !isNetwork(one))
  if (wrong !== undefined) {
    reader.fault(
      `--network is "${plainText(wrong)}", but must be an address or a network such as 192.0.2.0/24.`,
    )
  }
  return networks
}

/** `undefined`: the key is for all branches. */
export function readBranches(
  written: unknown,
  scopes: readonly GrantScope[],
  reader: SettingReader,
): readonly string[] | undefined {
  const words = wordsOf(written)
  if (words.length === 0) return undefined
  const branches = grantedBranches(words)
  if (branches === undefined) {
    reader.fault(
      `--branch must be a \`branch_id\` as it is published, of 1 to ${maxBranchLength} characters on one line, and may be given at most ${maxGrantedBranches} times.`,
    )
  }
  const unlimited = unlimitedScope(scopes)
  if (unlimited !== undefined) {
    reader.fault(`--branch limits ${branchScopes.join(' and ')} alone. Make another key for ${unlimited}.`)
  }
  return branches
}

export function readFutureMoment(written: string, what: string, reader: SettingReader): number | undefined {
  const nowMs = Date.now()
  const ms = readMoment(written, nowMs)
  if (ms === undefined) reader.fault(`${what} is "${plainText(written)}", but must be ${momentWords}.`)
  else if (ms <= nowMs) reader.fault(`${what} is "${plainText(written)}", which has passed.`)
  return ms
}

/** Only a whole key is longer than an id, and its secret must not be shown. */
const maxIdLength = 12

/** People paste whole keys, and the id in them is enough. Throws a `Refusal` for a text that can be neither. */
export function keyIdOf(written: string, store: string): string {
  const keyId = parseKeyText(written)?.keyId
  if (keyId !== undefined) return keyId
  if (written.length <= maxIdLength) return written
  const likely = /^pev_(?:test_)?([0-9A-Za-z]{12})_/.exec(written)?.[1]
  throw new Refusal(
    likely === undefined
      ? `This is neither a key nor the id of one (${written.length} characters, not shown). \`${commandLine('keys list', store)}\` lists the ids.`
      : `The key pev_${likely}_… is mistyped. Paste it again, or give its id alone: ${likely}`,
  )
}

export function unknownKey(keyId: string, store: string): Refusal {
  return new Refusal(
    `There is no key "${plainText(keyId)}". \`${commandLine('keys list', store)}\` lists the keys.`,
  )
}

export function stateOf(key: KeyRecord, nowMs: number): string {
  if (key.revokedMs !== undefined) return `revoked ${momentText(key.revokedMs)}`
  if (key.expiresMs === undefined) return 'active'
  return `${key.expiresMs <= nowMs ? 'expired' : 'active until'} ${momentText(key.expiresMs)}`
}

export function keyJson({ createdMs, expiresMs, revokedMs, lastUsedMs, ...key }: KeyRecord) {
  const {
    keyId,
    label,
    operator,
    grants,
    rate,
    adminScopes: held = [],
    networks = [],
    replaces,
    reading,
  } = key
  return {
    keyId,
    label,
    operator,
    scopes: held,
    grants,
    networks,
    created: momentJson(createdMs),
    expires: momentJson(expiresMs),
    revoked: momentJson(revokedMs),
    lastUsed: momentJson(lastUsedMs),
    rate: rate ?? null,
    replaces: replaces ?? null,
    ...readingJson(reading),
  }
}
