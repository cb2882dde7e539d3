/** A row of the audit in words. */
import { oneLine } from '../../words/plain.ts'
import { localText } from '../../words/times.ts'

/** `scopes property:read; expires 31 Jan 09:30:00`: what an action says beside its target. `detail`: from the service's answer. */
export function detailWords(detail: unknown, nowMs: number): string {
  if (typeof detail !== 'object' || detail === null) return ''
  const parts = Object.entries(detail).flatMap(([name, value]) => {
    const text = valueWords(name, value, nowMs)
    return text === undefined ? [] : [`${nameWords(name)}${text === '' ? '' : ` ${text}`}`]
  })
  return parts.join('; ')
}

/** `undefined`: it says nothing, like a flag that is false. */
function valueWords(name: string, value: unknown, nowMs: number): string | undefined {
  if (value === null || value === false || value === undefined) return undefined
  if (value === true) return ''
  if (name.endsWith('Ms') && typeof value === 'number') return localText(value, nowMs)
  if (Array.isArray(value) && value.length === 0) return undefined
  const isText = Array.isArray(value) || typeof value === 'string'
  return oneLine(isText ? String(value) : JSON.stringify(value), 200)
}

/** `expires` of `expiresMs`, `of` of `of`. */
function nameWords(name: string): string {
  return name.replace(/Ms$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** `key 7Hq2aaaaaaaa`, `somebody at the command line (x1)`, `the service`; a name where one is known. */
export function actorWords(actor: string, name: string | null): string {
  if (name !== null) return oneLine(name, 100)
  if (actor === 'service') return 'the service'
  if (actor.startsWith('key:')) return `key ${actor.slice(4)}`
  return actor.startsWith('cli:') ? `command line ${actor.slice(4)}` : oneLine(actor, 100)
}
