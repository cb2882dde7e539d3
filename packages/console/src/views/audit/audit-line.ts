/** A row of the audit in words. */
import type { Key, Tenant } from '@property-events/protocol/wire'
import { oneLine } from '../../words/plain.ts'
import { localText, longSpanText } from '../../words/times.ts'

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
  if (name === 'ms' && typeof value === 'number') return longSpanText(value / 1_000)
  if (name.endsWith('Ms') && typeof value === 'number') return localText(value, nowMs)
  if (Array.isArray(value) && value.length === 0) return undefined
  // A list breaks into lines between its members, not within one.
  const text = Array.isArray(value) ? value.map(String).join(', ') : value
  return oneLine(typeof text === 'string' ? text : JSON.stringify(text), 200)
}

/** `expires` of `expiresMs`, `every` of `ms`. */
function nameWords(name: string): string {
  if (name === 'ms') return 'every'
  return name.replace(/Ms$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** `key 7Hq2aaaaaaaa`, `somebody at the command line (x1)`, `the service`; a name where one is known. */
export function actorWords(actor: string, name: string | null, labels: Labels = noLabels): string {
  if (name !== null) return oneLine(name, 100)
  if (actor === 'service') return 'the service'
  if (actor.startsWith('key:')) return labels.get(actor.slice(4)) ?? `key ${actor.slice(4)}`
  return actor.startsWith('cli:') ? `command line ${actor.slice(4)}` : oneLine(actor, 100)
}

/** Names of keys and agencies by their ids, as far as the session may know them. */
export type Labels = ReadonlyMap<string, string>

const noLabels: Labels = new Map()

export function labelsOf(
  keys: readonly Pick<Key, 'keyId' | 'label'>[] = [],
  tenants: readonly Pick<Tenant, 'tenantId' | 'name'>[] = [],
): Labels {
  return new Map([
    ...keys.flatMap(({ keyId, label }) => (label === '' ? [] : [[keyId, oneLine(label, 60)] as const])),
    ...tenants.map(({ tenantId, name }) => [tenantId, oneLine(name, 60)] as const),
  ])
}

/** `Key created` for `key.created`, `Session started` for `session.begun`: an action in words. */
export function actionWords(action: string): string {
  const words = oneLine(action.replaceAll(/[._]/g, ' ').replace(/ begun$/, ' started'), 64)
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}
