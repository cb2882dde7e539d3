/** The events of a property with what each changed, newest first. */
import { useState } from 'preact/hooks'
import { Copy } from '../../parts/copy.tsx'
import { EventType } from '../../parts/event-type.tsx'
import { LocalTime } from '../../parts/age.tsx'
import { countText } from '../../words/numbers.ts'
import { rawText } from '../feed/event-text.ts'
import { DifferenceText } from './difference-text.tsx'
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
  const rawLine = lines.findIndex(({ event }) => event.sequenceNumber === raw)
  const [most, setMost] = useState(shownAtFirst)
  const shown = lines.slice(0, Math.max(most, rawLine + 1))
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
const inLine = 4

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

interface RawProps {
  readonly payload: string
  /** What the payload belongs to, for screen readers. */
  readonly name: string
}

/** A payload as it is on the wire. */
function RawPayload({ payload, name }: RawProps) {
  const [isWhole, showWhole] = useState(false)
  const { text, isCut } = rawText(payload, isWhole)
  return (
    <section class="raw">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- It scrolls, from the keyboard too. */}
      <pre tabIndex={0} role="region" aria-label={`Payload of ${name}`}>
        {text}
      </pre>
      <p>
        <Copy text={payload} label="Copy the bytes" />{' '}
        {isCut && (
          <button type="button" onClick={() => showWhole(true)}>
            Show all {countText(payload.length)} characters
          </button>
        )}
      </p>
    </section>
  )
}
