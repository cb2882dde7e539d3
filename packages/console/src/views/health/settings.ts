/** Settings and findings of a service, for people. */
import type { Finding } from '@property-events/protocol/wire'
import { oneLine } from '../../words/plain.ts'

/** `–` if nothing is set. */
export function settingText(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–'
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value), 500)
}

const order: readonly Finding['status'][] = ['fail', 'warn', 'ok']

/** Faults first, then the service's own order. */
export function findingsFirst(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status))
}
