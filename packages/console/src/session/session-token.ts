/** The token of the session: the part that scripts hold. The other is a cookie that they never see. Neither is of use alone. */
import { base } from '../root.ts'

/** Two services on one host share the browser's storage if only their paths differ. */
const storageKey = `property-events session ${base}/`

export const tokenHeader = 'x-console-session'

export function readToken(): string | undefined {
  return localStorage.getItem(storageKey) ?? undefined
}

/** `undefined` removes it. */
export function keepToken(token: string | undefined): void {
  if (token === undefined) localStorage.removeItem(storageKey)
  else localStorage.setItem(storageKey, token)
}

/** Calls back when another tab of this browser signs in or out. */
export function watchToken(changed: () => void): void {
  addEventListener('storage', ({ key }) => {
    if (key === storageKey || key === null) changed()
  })
}
