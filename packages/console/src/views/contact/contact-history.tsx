/** The events of a contact with what each changed, oldest first. */
import type { MaskedContact } from '@property-events/protocol/wire'
import { Moment } from '../../parts/age.tsx'
import { countText } from '../../words/numbers.ts'
import { typeName } from '../../words/plain.ts'
import { contactChanges } from './contact-lines.ts'
import type { ContactChange } from './contact-lines.ts'

/** `contact`: masked, or as in the feed. */
type ContactEvent = Omit<MaskedContact, 'contact'> & { readonly contact: unknown }

interface Props {
  readonly events: readonly ContactEvent[]
  readonly hasMore: boolean
  readonly isMasked: boolean
}

export const historyLimit = 100

export function ContactHistory({ events, hasMore, isMasked }: Props) {
  return (
    <>
      {isMasked && <p class="quiet">Changes to hidden fields are not shown.</p>}
      <ol class="events">
        {events.map((event, n) => (
          <li key={event.id}>
            <Moment at={event.createdDate} /> {typeName(event.eventTypeShortCode)}{' '}
            <span class="quiet">#{countText(event.sequenceNumber)}</span>
            {isUpdate(event) && <Changes before={events[n - 1]?.contact} after={event.contact} />}
          </li>
        ))}
      </ol>
      {hasMore && <p class="quiet">There are later events than the first {historyLimit}.</p>}
    </>
  )
}

/** What is created or erased is so as a whole. */
function isUpdate({ eventTypeShortCode }: ContactEvent): boolean {
  return eventTypeShortCode === 'ContactUpdated'
}

function Changes({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const { changes, isUnchanged } = contactChanges(before, after)
  if (isUnchanged) return <p class="quiet">No visible change.</p>
  return (
    changes.length > 0 && (
      <ul class="changes">
        {changes.map((change, n) => (
          <li key={n}>
            <Change change={change} />
          </li>
        ))}
      </ul>
    )
  )
}

function Change({ change: { label, was, is } }: { readonly change: ContactChange }) {
  return (
    <>
      {label}: {was !== undefined && <del>{was}</del>} {is === undefined ? 'removed' : <ins>{is}</ins>}
    </>
  )
}
