/** The path of the console, as this page names it. */
import { baseOf, serviceBaseOf } from './base.ts'

const named = document.querySelector<HTMLMetaElement>('meta[name="console-root"]')?.content ?? '/console/'

/** `/feeds/console`, without a slash at its end. */
export const base = baseOf(named)

/** `/feeds`, or empty. */
export const serviceBase = serviceBaseOf(base)

/** The address of one of `places`. */
export function hrefOf(place: string): string {
  return place === '/' ? `${base}/` : `${base}${place}`
}
