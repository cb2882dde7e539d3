/** How a consumer is called, on the page of a property and in the list of consumers. */
import type { PropertyConsumer } from '@property-events/protocol/wire'
import { oneLine } from '../words/plain.ts'

/** By its key's label and its own name, or by the label of its endpoint. */
export function nameOfConsumer({
  keyId,
  name,
  label,
  webhook,
}: Pick<PropertyConsumer, 'keyId' | 'name' | 'label'> & {
  readonly webhook: { readonly label: string } | null
}): string {
  if (webhook !== null) return `${oneLine(webhook.label, 80) || name} · webhook`
  const key = oneLine(label, 80) || keyId
  return name === 'default' ? key : `${key} · ${oneLine(name, 64)}`
}
