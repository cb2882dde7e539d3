/** The path of the console, as this page names it. */
import { baseOf, serviceBaseOf } from './base.ts'

const named = document.querySelector<HTMLMetaElement>('meta[name="console-root"]')?.content ?? '/console/'

/** `/feeds/console`, without a slash at its end. */
export const base = baseOf(named)

/** `/feeds`, or empty. */
export const serviceBase = serviceBaseOf(base)

/** The address of one of `paths`. */
export function hrefOf(path: string): string {
  return path === '/' ? `${base}/` : `${base}${path}`
}
