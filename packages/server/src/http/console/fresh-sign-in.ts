/** What looks at personal data, takes it away or makes operator keys: in a browser only shortly after signing in (PROTOCOL §15.4). */
import { refused } from '../exchange.ts'
import type { Access, Refused } from '../exchange.ts'

/** Why a session has to be begun anew for it. A key in its header is asked for nothing. */
export function refusalUnlessFresh({ session }: Pick<Access, 'session'>): Refused | undefined {
  return session?.isFresh === false ? stale : undefined
}

const stale = refused({ code: 'console_needs_fresh_sign_in' })
