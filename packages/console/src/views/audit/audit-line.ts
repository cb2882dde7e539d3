/** A row of the audit in words. */
import { auditDetailWords } from '@property-events/protocol/plain'
import type { Key, Tenant } from '@property-events/protocol/wire'
import { oneLine } from '../../words/plain.ts'
import { localText, longSpanText } from '../../words/times.ts'

/** `scopes property:read; expires 31 Jan 09:30:00`: what an action says beside its target. `detail`: from the service's answer. */
export function detailWords(detail: unknown, nowMs: number): string {
  return auditDetailWords(detail, {
    time: (ms) => localText(ms, nowMs),
    span: (ms) => longSpanText(ms / 1_000),
    text: (text) => oneLine(text, 200),
  })
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
  const words = oneLine(action.replaceAll(/[._]/g, ' ').replace(/ beg[ua]n$/, ' started'), 64)
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}
