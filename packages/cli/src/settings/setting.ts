import { readWholeNumber } from '@property-events/protocol'
import { suggest } from '../refusal.ts'

/** One setting: its flag, its environment variable, and how its text is read. */
export interface Setting<Value> {
  /** Words with `-` between them: `max-page-size` is the flag `--max-page-size` and PROPERTY_EVENTS_MAX_PAGE_SIZE. */
  readonly name: string
  /** Placeholder of the flag's value in the help; `undefined`: the flag stands alone and means `on`. */
  readonly argument: string | undefined
  readonly description: string
  /** Only as a variable: other users of the machine can see command lines. */
  readonly variableOnly: boolean
  /** Never shown, not even in an error. */
  readonly secret: boolean
  /** The values that are allowed, for errors: `a whole number from 0 to 65535`. */
  readonly expected: string
  readonly fallback: Value
  /** Its words in the help, if the value itself does not explain it. */
  readonly fallbackWords: string | undefined
  read(text: string): Value | undefined
}

export interface SettingWords {
  readonly name: string
  readonly description: string
  readonly argument?: string
  readonly variableOnly?: boolean
  readonly secret?: boolean
  readonly fallbackWords?: string
}

/** The kinds of value. Each reads strictly. */
export function wholeNumber<Fallback>(
  words: SettingWords,
  range: { readonly from: number; readonly to: number },
  fallback: Fallback,
): Setting<number | Fallback> {
  return {
    ...common(words, 'number'),
    expected: `a whole number from ${range.from} to ${range.to}`,
    fallback,
    read: (text) => readWholeNumber(text, range),
  }
}

const unitsMs = { ms: 1, s: 1_000, m: 60_000 } as const

/** A length of time with its unit, such as `5s`, in milliseconds; at most an hour. */
export function duration(
  words: SettingWords,
  fallbackMs: number,
  { fromMs = 0 }: { readonly fromMs?: number } = {},
): Setting<number> {
  return {
    ...common({ argument: 'time', ...words }, undefined),
    expected: `a time such as 500ms, 5s or 2m, ${fromMs === 0 ? '' : `at least ${fromMs / unitsMs.s}s and `}at most 60m`,
    fallback: fallbackMs,
    read(text) {
      if (text === '0') return fromMs === 0 ? 0 : undefined
      const [, digits = '', unit] = /^([0-9]+)(ms|s|m)$/.exec(text) ?? []
      if (unit !== 'ms' && unit !== 's' && unit !== 'm') return undefined
      const count = readWholeNumber(digits, { to: (60 * unitsMs.m) / unitsMs[unit] })
      return count === undefined || count * unitsMs[unit] < fromMs ? undefined : count * unitsMs[unit]
    },
  }
}

export function oneOf<Choice extends string, Fallback extends Choice | undefined>(
  words: SettingWords,
  choices: readonly Choice[],
  fallback: Fallback,
): Setting<Choice | Fallback> {
  return {
    ...common(words, choices.join('|')),
    expected: `one of ${choices.join(', ')}`,
    fallback,
    read: (text) => choices.find((choice) => choice === text),
  }
}

export function onOff(words: SettingWords): Setting<boolean> {
  return {
    ...common({ fallbackWords: 'off', ...words }, undefined),
    expected: 'on or off',
    fallback: false,
    read: (text) =>
      /^(on|true|yes|1)$/.test(text) ? true : /^(off|false|no|0)$/.test(text) ? false : undefined,
  }
}

/** A text with its own rule. */
export function text<Value, Fallback>(
  words: SettingWords & { readonly expected: string },
  fallback: Fallback,
  read: (text: string) => Value | undefined,
): Setting<Value | Fallback> {
  return { ...common(words, 'text'), expected: words.expected, fallback, read }
}

function common(words: SettingWords, argument: string | undefined) {
  const { name, description, fallbackWords, variableOnly = false, secret = false } = words
  return { name, description, fallbackWords, variableOnly, secret, argument: words.argument ?? argument }
}

export function variableOf(setting: Setting<unknown>): string {
  return `PROPERTY_EVENTS_${setting.name.toUpperCase().replaceAll('-', '_')}`
}

/** Names a file that holds the value, for secrets only: others can read what is in a unit or a compose file. */
export function fileVariableOf(setting: Setting<unknown>): string | undefined {
  return setting.secret ? `${variableOf(setting)}_FILE` : undefined
}

/** The name under which commander keeps a flag: `--max-page-size` is `maxPageSize`. */
export function optionNameOf(setting: Setting<unknown>): string {
  return setting.name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Variables of this prefix belong to the project's tests. */
const testPrefix = 'PROPERTY_EVENTS_TEST_'

/** Variables with our prefix that are not ours: a misspelt one would otherwise silently have no effect. */
export function unknownVariableFaults(
  environment: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): readonly string[] {
  return Object.keys(environment)
    .filter(
      (name) => name.startsWith('PROPERTY_EVENTS_') && !name.startsWith(testPrefix) && !known.includes(name),
    )
    .map((name) => `${name} is not a setting of property-events.${suggest(name, known)}`)
}

export type Environment = Readonly<Record<string, string | undefined>>

/** Reads settings one by one and collects their faults, so that all are reported at once. */
export interface SettingReader {
  /** The flag's value, else the variable's, else the fallback; after a fault the fallback, too. */
  value<Value>(setting: Setting<Value>): Value
  /** Where its value was set: a flag or a variable; `undefined`: nowhere, so the fallback applies. */
  source(setting: Setting<unknown>): string | undefined
  /** Notes a fault of another kind. */
  fault(sentence: string): void
  /** Throws a `Refusal` with all faults, if there are any. To be called before any value is used. */
  finish(): void
}
