/** The fields of a contact. */
import { contactLines } from './contact-lines.ts'

export function ContactTable({ contact }: { readonly contact: unknown }) {
  const { lines, hasMore } = contactLines(contact)
  return (
    <>
      <dl class="fields">
        {lines.map(({ pointer, label, value, isMasked }) => (
          <div key={pointer}>
            <dt>{label}</dt>
            <dd>
              {isMasked ? (
                <>
                  <span aria-hidden="true">{value}</span>
                  <span class="unseen">hidden</span>
                </>
              ) : (
                value
              )}
            </dd>
          </div>
        ))}
      </dl>
      {hasMore && <p class="quiet">There are more fields than are shown.</p>}
    </>
  )
}
