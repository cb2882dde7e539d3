/** A contact, masked. With a reason, a user can see it for a minute. */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { Answer } from '../../parts/answer.tsx'
import { Dialog, DialogActions } from '../../parts/dialog.tsx'
import { Moment } from '../../parts/age.tsx'
import type { FeedEvent, MaskedContact } from '@property-events/protocol/wire'
import { getMaskedContact, readMaskedHistory, revealContact } from '../../service/operations/privacy.ts'
import { getSubject, readHistory } from '../../service/operations/feeds.ts'
import { useAction, useAnswer } from '../../service/use-answer.ts'
import { mayAdminister } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { now } from '../../state/clock.ts'
import { typeName } from '../../words/plain.ts'
import { ActionFailure } from '../sign-in/action-failure.tsx'
import type { ViewProps } from '../view.ts'
import { ContactHistory, historyLimit } from './contact-history.tsx'
import { ContactActions } from './contact-actions.tsx'
import { contactLines, sectionsOf } from './contact-lines.ts'
import { reasonChoices, revealMs, secondsLeft } from './full-contact.ts'
import type { Revealed } from './full-contact.ts'
import './contact.css'

export function ContactView({ parts: { tenantId = '', contactRef = '' } }: ViewProps) {
  const isAdmin = mayAdminister(signedIn().key, 'admin:inspect', tenantId)
  return isAdmin ? (
    <MaskedContact tenantId={tenantId} contactRef={contactRef} />
  ) : (
    <OwnContact tenantId={tenantId} contactRef={contactRef} />
  )
}

interface ContactProps {
  readonly tenantId: string
  readonly contactRef: string
}

/** As seen by a key that reads the whole feed of contacts: nothing needs hiding from it. */
function OwnContact({ tenantId, contactRef }: ContactProps) {
  const event = useAnswer(getSubject({ tenantId, feed: 'contact', door: 'own' }, contactRef))
  return (
    <article class="contact">
      <Head contactRef={contactRef} />
      <ContactActions tenantId={tenantId} contactRef={contactRef} reveal={undefined} />
      <Answer of={event} what="the contact">
        {({ eventTypeShortCode, createdDate, payload }) => (
          <>
            <p class="quiet">
              {typeName(eventTypeShortCode)} <Moment at={createdDate} />.
            </p>
            <ContactTable contact={contactOf(payload)} />
          </>
        )}
      </Answer>
      <OwnHistory tenantId={tenantId} contactRef={contactRef} />
    </article>
  )
}

function Head({ contactRef }: { readonly contactRef: string }) {
  return (
    <header>
      <h1>Contact</h1>
      <p>
        <code>{contactRef}</code>
      </p>
    </header>
  )
}

function MaskedContact({ tenantId, contactRef }: ContactProps) {
  const masked = useAnswer(getMaskedContact(tenantId, contactRef))
  const [revealed, setRevealed] = useRevealed(contactRef)
  const [isAsking, setAsking] = useState(false)
  const { key } = signedIn()
  const left = revealed === undefined ? undefined : secondsLeft(revealed, now.value)
  const isRevealable =
    left === undefined && masked.value !== undefined && mayAdminister(key, 'admin:reveal', tenantId)
  return (
    <article class="contact">
      <Head contactRef={contactRef} />
      <ContactActions
        tenantId={tenantId}
        contactRef={contactRef}
        reveal={isRevealable ? () => setAsking(true) : undefined}
      />
      {left !== undefined && revealed !== undefined ? (
        <section class="revealed" aria-label="The contact in full">
          <p role="timer" aria-live="off">
            Hidden again in {left} s.{' '}
            <button type="button" onClick={() => setRevealed(undefined)}>
              Hide now
            </button>
          </p>
          <ContactTable contact={revealed.contact} />
        </section>
      ) : (
        <Answer of={masked} what="the contact">
          {(event) => <Masked event={event} />}
        </Answer>
      )}
      {isAsking && (
        <RevealDialog
          tenantId={tenantId}
          contactRef={contactRef}
          onShown={(contact) => {
            setRevealed({ contact, untilMs: Date.now() + revealMs })
            setAsking(false)
          }}
          onClose={() => setAsking(false)}
        />
      )}
      <MaskedHistory tenantId={tenantId} contactRef={contactRef} />
    </article>
  )
}

/** The revealed contact is dropped after its minute, when the user leaves the view, and when the tab is hidden. */
function useRevealed(contactRef: string) {
  const [revealed, setRevealed] = useState<Revealed>()
  useLayoutEffect(() => setRevealed(undefined), [contactRef])
  // Together with the picture: a tab that is hidden at once hides the contact as well.
  useLayoutEffect(() => {
    if (revealed === undefined) return undefined
    const hide = (): void => setRevealed(undefined)
    const whenHidden = (): void => {
      if (document.hidden) hide()
    }
    const timer = setTimeout(hide, Math.max(0, revealed.untilMs - Date.now()))
    document.addEventListener('visibilitychange', whenHidden)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', whenHidden)
    }
  }, [revealed])
  return [revealed, setRevealed] as const
}

function Masked({ event }: { readonly event: MaskedContact }) {
  // Nothing is left but the reference, which is above.
  const isErased = event.eventTypeShortCode === 'ContactErased'
  return (
    <>
      <p class="quiet">
        {typeName(event.eventTypeShortCode)} <Moment at={event.createdDate} />.
        {!isErased && ' Names and contact details are hidden.'}
      </p>
      {!isErased && <ContactTable contact={event.contact} />}
    </>
  )
}

interface RevealProps extends ContactProps {
  readonly onShown: (contact: unknown) => void
  readonly onClose: () => void
}

function RevealDialog({ tenantId, contactRef, onShown, onClose }: RevealProps) {
  const [chosen, choose] = useState('')
  const action = useAction<FeedEvent>()
  const reason = reasonChoices.find((choice) => choice.reason === chosen)?.reason
  const { done } = action
  useEffect(() => {
    if (done !== undefined) onShown(contactOf(done.payload))
  }, [done])
  return (
    <Dialog title="Show this contact in full" onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (reason !== undefined) void action.run(revealContact(tenantId, contactRef, reason))
        }}
      >
        <label>
          Reason
          <select value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            <option value="">Choose a reason</option>
            {reasonChoices.map((choice) => (
              <option key={choice.reason} value={choice.reason}>
                {choice.says}
              </option>
            ))}
          </select>
        </label>
        <p class="quiet">
          The reason, the time and the id of your key are recorded in the audit. The contact is then shown for{' '}
          {revealMs / 1_000} seconds.
        </p>
        <DialogActions
          name="Show"
          isBusy={action.isBusy}
          isDisabled={reason === undefined}
          onCancel={onClose}
        />
      </form>
      <ActionFailure action={action} />
    </Dialog>
  )
}

function contactOf(payload: string): unknown {
  const contact: unknown = JSON.parse(payload)
  return contact
}

function MaskedHistory({ tenantId, contactRef }: ContactProps) {
  const history = useAnswer(readMaskedHistory(tenantId, contactRef, { limit: historyLimit }))
  return (
    <section>
      <h2>History</h2>
      <Answer of={history} what="the history of the contact">
        {({ items, next }) => <ContactHistory events={items} hasMore={next !== null} isMasked />}
      </Answer>
    </section>
  )
}

function OwnHistory({ tenantId, contactRef }: ContactProps) {
  const address = { tenantId, feed: 'contact', door: 'own' } as const
  const history = useAnswer(readHistory(address, contactRef, { limit: historyLimit }))
  return (
    <section>
      <h2>History</h2>
      <Answer of={history} what="the history of the contact">
        {({ items, next, head }) => (
          <ContactHistory
            events={items.map((event) => ({ ...event, contact: contactOf(event.payload) }))}
            hasMore={items.length === historyLimit && next < head}
            isMasked={false}
          />
        )}
      </Answer>
    </section>
  )
}

/** The fields of a contact, grouped as in the payload. */
function ContactTable({ contact }: { readonly contact: unknown }) {
  const { lines, hasMore } = contactLines(contact)
  return (
    <>
      <div class="sections">
        {sectionsOf(lines).map(({ name, lines: own }) => (
          <section key={name}>
            <h2>{name}</h2>
            <dl class="fields">
              {own.map(({ pointer, label, value, isMasked }) => (
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
          </section>
        ))}
      </div>
      {hasMore && <p class="quiet">There are more fields than are shown.</p>}
    </>
  )
}
