import { typeName } from '../words/plain.ts'

/** The type of an event: `Updated`. */
export function EventType({ shortCode, number }: { readonly shortCode: string; readonly number: number }) {
  return (
    <span
      class={`event-type ${typeName(shortCode).toLowerCase()}`}
      title={`${shortCode}, event type ${number}`}
    >
      {typeName(shortCode)}
    </span>
  )
}
