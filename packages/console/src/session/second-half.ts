/** The half of the session that scripts hold. The other is a cookie that they never see. Neither is of use alone. */
import { base } from '../root.ts'

/** Two services on one host share the browser's storage if only their paths differ. */
const place = `property-events session ${base}/`

export const halfHeader = 'x-console-session'

export function readHalf(): string | undefined {
  return localStorage.getItem(place) ?? undefined
}

/** `undefined` removes it. */
export function keepHalf(half: string | undefined): void {
  if (half === undefined) localStorage.removeItem(place)
  else localStorage.setItem(place, half)
}

/** Calls back when another tab of this browser signs in or out. */
export function watchHalf(changed: () => void): void {
  addEventListener('storage', ({ key }) => {
    if (key === place || key === null) changed()
  })
}
