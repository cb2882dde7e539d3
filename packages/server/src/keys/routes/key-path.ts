/** The id of a key in a path, and in the parameter `key` of a list. */
import { isKeyId } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import { refused } from '../../http/exchange.ts'
import type { Refused } from '../../http/exchange.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'

export const noKey = refused({ code: 'key_not_found' })

/** For routes whose path begins with `/keys/:keyId`. Text of another form is the id of no key. */
export const aboutKey = {
  refusalOfPath: ([keyId = '']: readonly string[]): Refused | undefined =>
    isKeyId(keyId) ? undefined : noKey,
} as const

/** The parameter `key`; `undefined` for all keys. */
export function readKeyId(values: ReadonlyMap<string, string>, errors: ProblemError[]): string | undefined {
  const text = values.get('key')
  if (text === undefined || isKeyId(text)) return text
  const message = `${quoteInput(text)} is not the id of a key: the 12 letters and digits after pev_ in its text.`
  errors.push({ parameter: 'key', code: 'not_a_key_id', message })
  return undefined
}
