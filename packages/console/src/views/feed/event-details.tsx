/** One event beside the list; on a phone, it replaces the list. */
import { useLayoutEffect, useState } from 'preact/hooks'
import { paths } from '../../base.ts'
import { Moment } from '../../parts/age.tsx'
import { EventType } from '../../parts/event-type.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Answer, Empty } from '../../parts/answer.tsx'
import { ViewLink } from '../../parts/view-link.tsx'
import type { FeedEvent } from '@property-events/protocol/wire'
import { readEvents, readHistory } from '../../service/operations/feeds.ts'
import type { FeedAddress } from '../../service/operations/feeds.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { signedIn } from '../../session/session.ts'
import { counted, countText } from '../../words/numbers.ts'
import { copyAs, copyKinds, rawText } from './event-text.ts'
import { feedRow, subjectOf } from './feed-row.ts'
import { DifferenceText } from '../property/difference-text.tsx'
import { readVersions, timelineOf } from '../property/timeline.ts'

interface Props {
  readonly address: FeedAddress
  readonly number: number
  readonly onClose: () => void
}

export function EventDetails({ address, number, onClose }: Props) {
  const run = useAnswer(readEvents(address, { after: number - 1, limit: 1 }))
  // Together with the picture, so that no key is lost.
  useLayoutEffect(() => {
    function press({ key }: KeyboardEvent): void {
      if (key === 'Escape' && document.querySelector('dialog[open]') === null) onClose()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [onClose])
  return (
    <aside class="details" aria-label={`Event ${countText(number)}`}>
      <header>
        <h2>#{countText(number)}</h2>
        <button type="button" class="plain" aria-label="Close the event" onClick={onClose}>
          ✕
        </button>
      </header>
      <Answer of={run} what={`event ${countText(number)}`}>
        {({ items: [event] }) =>
          event?.sequenceNumber === number ? (
            <Facts address={address} event={event} />
          ) : (
            <Empty title="No event has this number.">
              <p>Numbers leave a gap where an epoch has begun, and end with the newest event.</p>
            </Empty>
          )
        }
      </Answer>
    </aside>
  )
}

function Facts({ address, event }: { readonly address: FeedAddress; readonly event: FeedEvent }) {
  const { tenantId, feed } = address
  const { what, price } = feedRow(feed, event)
  const subject = subjectOf(event.payload)
  const subjectPath =
    feed === 'property' ? paths.property(tenantId, subject) : paths.contact(tenantId, subject)
  return (
    <>
      <dl class="facts">
        <dt>Type</dt>
        <dd>
          <EventType shortCode={event.eventTypeShortCode} number={event.eventType} />
        </dd>
        <dt>Time</dt>
        <dd>
          <Moment at={event.createdDate} />
        </dd>
        <dt>{feed === 'property' ? 'Property' : 'Contact'}</dt>
        <dd>
          {subject === '' ? what : <ViewLink path={subjectPath}>{what}</ViewLink>} {price}
        </dd>
        <dt>Event id</dt>
        <dd>
          <code>{event.id}</code>
        </dd>
        <dt>Transaction</dt>
        <dd>
          <code>{event.transactionId}</code>
        </dd>
      </dl>
      {feed === 'property' && subject !== '' && (
        <FeedChanges address={address} event={event} subject={subject} />
      )}
      <CopyAs address={address} event={event} />
      <Raw payload={event.payload} />
    </>
  )
}

function CopyAs({ address, event }: { readonly address: FeedAddress; readonly event: FeedEvent }) {
  const { serviceUrl } = signedIn()
  return (
    <p class="copy-as">
      Copy as
      {copyKinds.map((kind) => (
        <Copy
          key={kind}
          text={copyAs(kind, serviceUrl, address.feed, event)}
          label={kind}
          name={`Copy as ${kind}`}
        />
      ))}
    </p>
  )
}

/** The payload, with line breaks if it has none. A long one is cut, and shown whole on request. */
function Raw({ payload }: { readonly payload: string }) {
  const [isWhole, showWhole] = useState(false)
  const { text, isCut } = rawText(payload, isWhole)
  return (
    <details open>
      <summary>Payload</summary>
      <pre class="raw">{text}</pre>
      <p class="actions">
        {isCut && (
          <button type="button" onClick={() => showWhole(true)}>
            Show all {countText(payload.length)} characters
          </button>
        )}
        <Copy text={payload} label="Copy the bytes" />
      </p>
    </details>
  )
}

interface FeedChangesProps {
  readonly address: FeedAddress
  readonly event: FeedEvent
  readonly subject: string
}

/** If a property has a longer history, its own page shows this. */
const longestHistory = 200
const mostShown = 8

/** What an event changed in its property, in the same words as on the property's own page. */
function FeedChanges({ address, event, subject }: FeedChangesProps) {
  const { value } = useAnswer(readHistory(address, subject, { limit: longestHistory }))
  const until = (value?.items ?? []).filter(({ sequenceNumber }) => sequenceNumber <= event.sequenceNumber)
  if (until.at(-1)?.sequenceNumber !== event.sequenceNumber) return null
  const [line] = timelineOf(readVersions(until))
  if (line === undefined) return null
  const { headline, change, isUnchanged } = line
  const more = change.differences.length - mostShown + change.more
  return (
    <div class="changes">
      {headline !== undefined && <p>{headline}</p>}
      {isUnchanged && headline === undefined && <p class="quiet">Same as the previous event.</p>}
      <ul>
        {change.differences.slice(0, mostShown).map((difference) => (
          <li key={difference.pointer}>
            <DifferenceText difference={difference} />
          </li>
        ))}
      </ul>
      {more > 0 && <p class="quiet">{counted(more, 'change')} more: see the property.</p>}
    </div>
  )
}
