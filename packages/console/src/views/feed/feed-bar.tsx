/** Above the list: what of the feed is listed, and the ways to a page, a number and a moment. Nothing in it moves. */
import { useState } from 'preact/hooks'
import { rowOfMoment, rowOfNumber } from '../../list/jumps.ts'
import type { Jump } from '../../list/jumps.ts'
import type { ListState } from '../../list/list-state.ts'
import { pageCount, pageOf, rowOfPage } from '../../list/pages.ts'
import { rowsSeen } from '../../list/scale.ts'
import { call } from '../../service/call.ts'
import type { FeedPlace } from '../../service/operations/feeds.ts'
import type { Trouble } from '../../service/trouble.ts'
import { countText, readCount } from '../../words/numbers.ts'
import { readMoment } from '../../words/times.ts'
import { apiEventTypeOf, categories, readCategory } from './categories.ts'
import type { Category } from './categories.ts'
import { LiveButton } from './live-button.tsx'

interface Props {
  readonly place: FeedPlace
  readonly category: Category | undefined
  readonly list: ListState
  readonly total: number
  readonly onCategory: (category: Category | undefined) => void
  readonly onTrouble: (trouble: Trouble | undefined) => void
}

export function FeedBar({ place, category, list, total, onCategory, onTrouble }: Props) {
  const apiEventType = apiEventTypeOf(place.feed, category)
  const { first } = rowsSeen(list.shape(total), list.stand.value.position)

  function jumpTo(row: number): void {
    onTrouble(undefined)
    list.goTo(total, Math.min(Math.max(0, row), Math.max(0, total - 1)))
  }
  async function jumpBy(jump: Promise<Jump>): Promise<void> {
    const found = await jump
    if (found === undefined) return
    if ('trouble' in found) onTrouble(found.trouble)
    else jumpTo(found.row)
  }

  return (
    <div class="feed-bar">
      {place.feed === 'property' && <CategoryChoice category={category} onCategory={onCategory} />}
      <JumpField
        name="Page"
        note={`of ${countText(pageCount(total))}`}
        hint={countText(Math.max(1, Math.min(pageOf(first), pageCount(total))))}
        fault="A page is a number from 1."
        read={readCount}
        onJump={(page) => jumpTo(rowOfPage(page))}
      />
      <JumpField
        name="Number"
        fault="A number of an event is digits alone."
        read={readCount}
        onJump={(number) =>
          void jumpBy(rowOfNumber((operation) => call(operation), place, apiEventType, number))
        }
      />
      <JumpField
        name="Time"
        hint="2026-03-01 09:00"
        fault="A time is 2026-03-01, 2026-03-01 09:00 or 09:00."
        read={(text) => readMoment(text, Date.now())}
        onJump={(ms) => void jumpBy(rowOfMoment((operation) => call(operation), place, apiEventType, ms))}
      />
      <span class="ends">
        <button type="button" onClick={() => jumpTo(0)}>
          ↑ Oldest
        </button>
        <button type="button" onClick={() => list.follow(total)}>
          ↓ Newest
        </button>
      </span>
      <LiveButton list={list} total={total} />
    </div>
  )
}

interface ChoiceProps {
  readonly category: Category | undefined
  readonly onCategory: (category: Category | undefined) => void
}

function CategoryChoice({ category, onCategory }: ChoiceProps) {
  return (
    <label>
      <span>Category</span>
      <select
        value={category ?? ''}
        onChange={({ currentTarget }) => onCategory(readCategory(currentTarget.value))}
      >
        <option value="">all</option>
        {categories.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  )
}

interface JumpFieldProps {
  readonly name: string
  readonly note?: string
  readonly hint?: string
  /** What is said of a text that cannot be read. */
  readonly fault: string
  readonly read: (text: string) => number | undefined
  readonly onJump: (target: number) => void
}

/** Enter jumps. The text stays, so that it can be changed. */
function JumpField({ name, note, hint, fault, read, onJump }: JumpFieldProps) {
  const [text, setText] = useState('')
  const [isWrong, setWrong] = useState(false)
  function submit(event: Event): void {
    event.preventDefault()
    const target = read(text)
    setWrong(target === undefined && text.trim() !== '')
    if (target !== undefined) onJump(target)
  }
  return (
    <form class="jump" onSubmit={submit}>
      <label>
        <span>{name}</span>
        <input
          type="text"
          size={Math.max(8, hint?.length ?? 0)}
          placeholder={hint ?? ''}
          value={text}
          aria-invalid={isWrong}
          title={isWrong ? fault : ''}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            setWrong(false)
          }}
        />
      </label>
      {note !== undefined && <span class="quiet">{note}</span>}
      {isWrong && (
        <span class="fault" role="alert">
          {fault}
        </span>
      )}
    </form>
  )
}
