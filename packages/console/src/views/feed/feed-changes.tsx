/** What an event changed in its property, in the same words as on the property's own page. */
import type { FeedEvent } from '@property-events/protocol/wire'
import { readHistory } from '../../service/operations/feeds.ts'
import type { FeedAddress } from '../../service/operations/feeds.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { counted } from '../../words/numbers.ts'
import { DifferenceText } from '../property/difference-text.tsx'
import { readVersions, timelineOf } from '../property/timeline.ts'

interface Props {
  readonly address: FeedAddress
  readonly event: FeedEvent
  readonly subject: string
}

/** If a property has a longer history, its own page shows this. */
const longestHistory = 200
const mostShown = 8

export function FeedChanges({ address, event, subject }: Props) {
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
