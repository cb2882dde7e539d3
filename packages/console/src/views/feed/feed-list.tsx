/** The rows of a feed. */
import { LocalTime } from '../../parts/age.tsx'
import { EventType } from '../../parts/event-type.tsx'
import type { FeedName } from '../../base.ts'
import { ScaledList } from '../../list/scaled-list.tsx'
import type { ListState } from '../../list/list-state.ts'
import type { FeedEvent } from '@property-events/protocol/wire'
import { countText } from '../../words/numbers.ts'
import { feedRow } from './feed-row.ts'
import type { FeedSource } from './feed-source.ts'

interface Props {
  readonly feed: FeedName
  readonly source: FeedSource
  readonly list: ListState
  readonly total: number
  /** The number of the event that is shown beside the list. */
  readonly chosen: number | undefined
  readonly onChoose: (event: FeedEvent) => void
}

const columns = ['Number', 'Time', 'Type', 'Address', 'Price']
const contactColumns = ['Number', 'Time', 'Type', 'Contact']

export function FeedList({ feed, source, list, total, chosen, onChoose }: Props) {
  // Pages that arrive redraw the rows.
  void source.version.value
  const isProperty = feed === 'property'

  function cellsOf(row: number) {
    const event = source.event(row)
    if (event === undefined)
      return [<span class="quiet">row {countText(row + 1)}</span>, '…', '', '', ''].slice(
        0,
        isProperty ? 5 : 4,
      )
    const { number, createdDate, shortCode, eventType, what, price } = feedRow(feed, event)
    const cells = [
      countText(number),
      <LocalTime at={createdDate} />,
      <EventType shortCode={shortCode} number={eventType} />,
      what,
    ]
    return isProperty ? [...cells, price] : cells
  }

  return (
    <ScaledList
      label={isProperty ? 'Property events, the oldest first' : 'Contact events, the oldest first'}
      columns={isProperty ? columns : contactColumns}
      state={list}
      rowCount={total}
      cellsOf={cellsOf}
      classOf={(row) => classOf(feed, source.event(row), chosen)}
      onChoose={(row) => {
        const event = source.event(row)
        if (event !== undefined) onChoose(event)
      }}
      onRest={(rows) => source.want(rows)}
    />
  )
}

function classOf(feed: FeedName, event: FeedEvent | undefined, chosen: number | undefined): string {
  if (event === undefined) return 'coming'
  const removal = feedRow(feed, event).isRemoval ? 'removal' : ''
  return event.sequenceNumber === chosen ? `chosen ${removal}` : removal
}
