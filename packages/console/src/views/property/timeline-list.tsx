/** The events of a property with what each changed, newest first. */
import { useState } from 'preact/hooks'
import { EventType } from '../../parts/code.tsx'
import { LocalTime } from '../../parts/age.tsx'
import { countText } from '../../words/numbers.ts'
import { DifferenceText } from './difference-text.tsx'
import { RawPayload } from './raw-payload.tsx'
import type { TimelineLine } from './timeline.ts'

interface Props {
  readonly lines: readonly TimelineLine[]
  /** The number of the event whose raw payload is shown. */
  readonly raw: number | undefined
  /** The address of this page with that payload shown, or without any. */
  readonly rawHref: (sequenceNumber: number | undefined) => string
}

/** Lines shown before somebody asks for more. */
const shownAtFirst = 50

export function TimelineList({ lines, raw, rawHref }: Props) {
  const place = lines.findIndex(({ event }) => event.sequenceNumber === raw)
  const [most, setMost] = useState(shownAtFirst)
  const shown = lines.slice(0, Math.max(most, place + 1))
  return (
    <>
      <ol class="timeline">
        {shown.map((line) => (
          <Line
            key={line.event.sequenceNumber}
            line={line}
            isRaw={line.event.sequenceNumber === raw}
            rawHref={rawHref}
          />
        ))}
      </ol>
      {shown.length < lines.length && (
        <button type="button" onClick={() => setMost(shown.length + shownAtFirst)}>
          Show earlier ({countText(lines.length - shown.length)})
        </button>
      )}
    </>
  )
}

interface LineProps {
  readonly line: TimelineLine
  readonly isRaw: boolean
  readonly rawHref: Props['rawHref']
}

/** The differences in the line itself; the others open below it. */
const inLine = 6

function Line({ line, isRaw, rawHref }: LineProps) {
  const { event, atMs, headline, change } = line
  const { differences, more } = change
  const number = event.sequenceNumber
  const rest = differences.length - inLine
  return (
    <li class={line.isUnchanged ? 'unchanged' : undefined}>
      <p class="when">
        <LocalTime at={atMs} /> <EventType shortCode={event.eventTypeShortCode} number={event.eventType} />{' '}
        <span class="quiet">#{countText(number)}</span>
      </p>
      <div class="what">
        {headline !== undefined && <p>{headline}</p>}
        {differences.length > 0 && (
          <ul>
            {differences.slice(0, inLine).map((difference) => (
              <li key={difference.pointer}>
                <DifferenceText difference={difference} />
              </li>
            ))}
          </ul>
        )}
        {rest > 0 && (
          <details>
            <summary>{countText(rest + more)} more</summary>
            <ul>
              {differences.slice(inLine).map((difference) => (
                <li key={difference.pointer}>
                  <DifferenceText difference={difference} />
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
      <a class="raw-link" href={rawHref(isRaw ? undefined : number)} aria-expanded={isRaw}>
        {isRaw ? 'hide raw' : 'raw'}
        <span class="unseen"> payload of {number}</span>
      </a>
      {isRaw && <RawPayload payload={event.payload} name={`event ${number}`} />}
    </li>
  )
}
