/** What commands about keys accept, and how they show a key. */
import { parseKeyText } from '@property-events/protocol'
import type { KeyReading, KeyRecord } from '@property-events/server'
import { commandLine } from '../program-name.ts'
import { suggest, Refusal } from '../refusal.ts'
import type { SettingReader } from '../settings/setting.ts'
import { plainText } from '../terminal-text.ts'
import { timestampJson, timestampText, futureTimeHelp, readTimestamp } from '../timestamp-option.ts'

export function readFutureTimestamp(
  written: string,
  what: string,
  reader: SettingReader,
): number | undefined {
  const nowMs = Date.now()
  const ms = readTimestamp(written, nowMs)
  if (ms === undefined) reader.fault(`${what} is "${plainText(written)}", but must be ${futureTimeHelp}.`)
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
  if (key.revokedMs !== undefined) return `revoked ${timestampText(key.revokedMs)}`
  if (key.expiresMs === undefined) return 'active'
  return `${key.expiresMs <= nowMs ? 'expired' : 'active until'} ${timestampText(key.expiresMs)}`
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
    created: timestampJson(createdMs),
    expires: timestampJson(expiresMs),
    revoked: timestampJson(revokedMs),
    lastUsed: timestampJson(lastUsedMs),
    rate: rate ?? null,
    replaces: replaces ?? null,
    ...readingJson(reading),
  }
}

export function collectWords(written: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...written.split(/[\s,]+/).filter((part) => part !== '')]
}

/** Names of tenants contain spaces and commas. */
export function collectValues(written: string, before: readonly string[] = []): readonly string[] {
  return [...before, written]
}

export function wordsOf(flag: unknown): readonly string[] {
  return Array.isArray(flag) ? flag.map(String) : []
}

/** The allowed words among those that were written, in their own order; a fault for each other one. */
export function readWords<Word extends string>(
  written: readonly string[],
  allowed: readonly Word[],
  reader: SettingReader,
  { kinds = [], wrong }: WordsRule,
): readonly Word[] {
  const known = [...allowed, ...kinds]
  const matching = (word: string) =>
    allowed.filter((one) => one === word || (kinds.includes(word) && one.endsWith(`:${word}`)))
  for (const word of written) {
    if (matching(word).length > 0) continue
    reader.fault(`${wrong(plainText(word))} ${known.join(', ')}.${suggest(word, known)}`)
  }
  const wanted = new Set(written.flatMap(matching))
  return allowed.filter((one) => wanted.has(one))
}

interface WordsRule {
  /** Each means all scopes that end with it. */
  readonly kinds?: readonly string[]
  /** The fault of a word, up to the words that are allowed. */
  readonly wrong: (word: string) => string
}

/** In a table; empty: in the usual way. */
export function readingText(reading: KeyReading | undefined): string {
  const words = [
    reading?.eventTypes,
    reading?.current === true ? 'current' : undefined,
    reading?.references === true ? 'reference-ids' : undefined,
  ]
  return words.filter((word) => word !== undefined).join(', ')
}

function readingJson(reading: KeyReading | undefined) {
  return {
    eventTypes: reading?.eventTypes ?? null,
    current: reading?.current === true,
    referenceIds: reading?.references === true,
  }
}
