/** Shows a code by its name, with the number on hover. */
import { nameOf } from '@property-events/client/listing'
import type { CodeListName } from '@property-events/client/listing'
import { typeName } from '../words/plain.ts'

/** A code of a payload. One that is in no list is shown unchanged. */
export function Code({ list, code }: { readonly list: CodeListName; readonly code: number | string }) {
  const name = nameOf(list, code)
  return name === undefined ? <span>{code}</span> : <span title={`${list} ${code}`}>{name}</span>
}

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
