/** What the operations on one key share: its id in the path. */
import { isKeyId } from '@property-events/protocol'
import { refused } from '../../http/exchange.ts'
import type { Refused } from '../../http/exchange.ts'

export const noKey = refused({ code: 'key_not_found' })

/** For routes whose path begins with `/keys/:keyId`. Text of another form is the id of no key. */
export const aboutKey = {
  refusalOfPath: ([keyId = '']: readonly string[]): Refused | undefined =>
    isKeyId(keyId) ? undefined : noKey,
} as const
