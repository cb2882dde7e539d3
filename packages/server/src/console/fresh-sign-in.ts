/**
 * Operations that show personal data, erase it or make operator keys: in a browser they are possible only shortly after signing in
 * (PROTOCOL §15.4).
 */
import { refused } from '../http/exchange.ts'
import type { Refused } from '../http/exchange.ts'
import type { Access } from '../http/access.ts'

/** Why the session has to be begun again for such an operation. A key in its header is never refused here. */
export function refusalUnlessFresh({ session }: Pick<Access, 'session'>): Refused | undefined {
  return session?.isFresh === false ? stale : undefined
}

const stale = refused({ code: 'console_needs_fresh_sign_in' })
