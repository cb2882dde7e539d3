/** A line of `sync --results`: what became of a property at the site (PROTOCOL §14.5). The service checks the values. */
import type { ConsumerResult } from '@property-events/client'
import type { Piece } from '../../publishing/split.ts'

/** A result with the longest texts has some 3 kB. */
export const maxResultBytes = 16 * 2 ** 10

/** A line, and what was wrong with it. */
export interface BadLine {
  readonly line: number
  readonly code: string
  /** Inside the line; empty: the line itself. */
  readonly pointer: string
  readonly message: string
}

export interface ResultLine {
  readonly line: number
  readonly result: ConsumerResult
}

const outcomes: readonly unknown[] = ['live', 'held', 'refused']
const example = '{"agentRef": "…", "sequenceNumber": 7, "outcome": "live", "url": "https://…"}'

export function readResult({ line, bytes }: Pick<Piece, 'line' | 'bytes'>): ResultLine | BadLine {
  const bad = (code: string, message: string, pointer = ''): BadLine => ({ line, code, pointer, message })
  if (bytes === undefined) return bad('too_long', `A line may have at most ${maxResultBytes} bytes.`)
  const value = parsed(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return bad('not_an_object', `A line is one JSON object in UTF-8, such as ${example}.`)
  }
  const given = Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
  if (isResult(given)) return { line, result: given }
  for (const [member, isRight, words] of rules) {
    if (!isRight(given[member]))
      return bad(given[member] === undefined ? 'missing' : 'wrong_type', words, `/${member}`)
  }
  return bad('not_a_result', `A line looks like ${example}.`)
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isTextOrAbsent = (value: unknown): boolean => value === undefined || isText(value)

const rules: readonly (readonly [string, (value: unknown) => boolean, string])[] = [
  ['agentRef', isText, 'agentRef is the reference of the property, a UUID.'],
  [
    'sequenceNumber',
    (value) => Number.isSafeInteger(value),
    'sequenceNumber is the number of the event that the site has applied.',
  ],
  ['outcome', (value) => outcomes.includes(value), 'outcome is one of live, held, refused.'],
  ['code', isTextOrAbsent, 'code is a word of your own.'],
  ['message', isTextOrAbsent, 'message is a text.'],
  ['url', isTextOrAbsent, 'url is the address of the page.'],
]

/** Further members are left to the service, which names them. */
function isResult(
  value: Readonly<Record<string, unknown>>,
): value is Record<string, unknown> & ConsumerResult {
  return rules.every(([member, isRight]) => isRight(value[member]))
}

/** `undefined`: not UTF-8, or not JSON. Windows programs often begin a file with a byte order mark. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}
