/** The bar above the list: the part of the feed that is listed, and the ways to a page, a number and a moment. Nothing in it moves. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Query } from '../../base.ts'
import { numberOfMoment, rowOfMoment, rowOfNumber } from '../../list/jumps.ts'
import type { Jump, Send } from '../../list/jumps.ts'
import type { ListState } from '../../list/list-state.ts'
import { pageCount, pageOf, rowOfPage } from '../../list/pages.ts'
import { rowsSeen } from '../../list/scale.ts'
import { Icon } from '../../parts/icon.tsx'
import { Options } from '../../parts/filters.tsx'
import { call } from '../../service/call.ts'
import type { FeedAddress } from '../../service/operations/feeds.ts'
import type { Failure } from '../../service/failure.ts'
import { counted, countText, readCount } from '../../words/numbers.ts'
import { typeName } from '../../words/plain.ts'
import { readMoment } from '../../words/times.ts'
import { apiEventTypeOf, categories, shortCodesOf } from './categories.ts'
import type { Category } from './categories.ts'
import type { TypedSource } from './typed-source.ts'
import { createAnnouncer } from './announcer.ts'

interface Props {
  readonly address: FeedAddress
  readonly category: Category | undefined
  readonly list: ListState
  readonly total: number
  /** The short code to which the list is narrowed, and its source. */
  readonly type: string | undefined
  readonly typed: TypedSource | undefined
  readonly onNarrow: (query: Query) => void
  readonly onFailure: (failure: Failure | undefined) => void
}

export function FeedBar(props: Props) {
  const { address, category, list, total, type, typed, onNarrow } = props
  const jumps = useJumps(props)
  // On a phone, the list begins near the top.
  const [isOpen, setOpen] = useState(false)
  const { first } = rowsSeen(list.shape(total), list.scroll.value.position)
  return (
    <div class={`feed-bar ${isOpen ? 'open' : ''}`}>
      <button type="button" class="more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="search" /> Filter, go to …
      </button>
      {address.feed === 'property' && (
        <Choice
          name="Category"
          names="categories"
          chosen={category}
          among={categories.map((one) => [one, one === 'sales' ? 'Sales' : 'Lettings'])}
          onChoice={(chosen) => onNarrow({ category: chosen })}
        />
      )}
      <Choice
        name="Type"
        names="types"
        chosen={type}
        among={shortCodesOf[address.feed].map((code) => [code, typeName(code)])}
        onChoice={(chosen) => onNarrow({ type: chosen })}
      />
      {typed === undefined && (
        <JumpField
          name="Page"
          note={`of ${countText(pageCount(total))}`}
          hint={countText(Math.max(1, Math.min(pageOf(first), pageCount(total))))}
          fault="Enter a page from 1."
          read={readCount}
          onJump={(page) => jumps.toRow(rowOfPage(page))}
        />
      )}
      <JumpField
        name="Number"
        fault="Enter the number of an event, digits only."
        read={readCount}
        onJump={(number) => jumps.toNumber(number)}
      />
      <JumpField
        name="Time"
        hint="2026-03-01 09:00"
        fault="Enter a time: 2026-03-01, 2026-03-01 09:00 or 09:00."
        read={(text) => readMoment(text, Date.now())}
        onJump={(ms) => jumps.toMoment(ms)}
      />
      <span class="ends">
        <button type="button" onClick={() => (typed === undefined ? jumps.toRow(0) : typed.beginAt(1))}>
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

/** Goes to a row, a number or a moment. For one type the list begins there; otherwise it moves there. */
function useJumps({ address, category, list, total, typed, onFailure }: Props) {
  const apiEventType = apiEventTypeOf(address.feed, category)
  const send: Send = (operation) => call(operation)

  function jumpTo(row: number): void {
    onFailure(undefined)
    list.goTo(total, Math.min(Math.max(0, row), Math.max(0, total - 1)))
  }
  async function jumpBy(jump: Promise<Jump>): Promise<void> {
    const found = await jump
    if (found === undefined) return
    if ('failure' in found) onFailure(found.failure)
    else jumpTo(found.row)
  }
  async function beginAt(source: TypedSource, ms: number): Promise<void> {
    const number = await numberOfMoment(send, address, apiEventType, ms)
    if (typeof number === 'number') source.beginAt(number)
    else onFailure(number)
  }
  return {
    toRow: jumpTo,
    toNumber(number: number) {
      if (typed === undefined) void jumpBy(rowOfNumber(send, address, apiEventType, number))
      else typed.beginAt(number)
    },
    toMoment(ms: number) {
      void (typed === undefined ? jumpBy(rowOfMoment(send, address, apiEventType, ms)) : beginAt(typed, ms))
    },
  }
}

interface ChoiceProps {
  readonly name: string
  /** `types`. */
  readonly names: string
  readonly chosen: string | undefined
  /** What an address says, and what people read. */
  readonly among: readonly (readonly [value: string, name: string])[]
  readonly onChoice: (chosen: string | undefined) => void
}

function Choice({ name, names, chosen, among, onChoice }: ChoiceProps) {
  return (
    <label>
      <span class="unseen">{name}</span>
      <select
        value={chosen ?? ''}
        onChange={({ currentTarget: { value } }) => onChoice(value === '' ? undefined : value)}
      >
        <Options among={among} all={`All ${names}`} />
      </select>
    </label>
  )
}

interface JumpFieldProps {
  readonly name: string
  readonly note?: string
  readonly hint?: string
  /** The message for a text that cannot be read. */
  readonly fault: string
  readonly read: (text: string) => number | undefined
  readonly onJump: (target: number) => void
}

/** Enter jumps. The text stays, so that the user can change it. */
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
          title={isWrong ? fault : `Press Enter to go to the ${name.toLowerCase()}`}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            setWrong(false)
          }}
        />
      </label>
      {note !== undefined && <span class="quiet">{note}</span>}
      <button type="submit" class="plain" aria-label={`Go to the ${name.toLowerCase()}`}>
        ↵
      </button>
      {isWrong && (
        <span class="fault" role="alert">
          {fault}
        </span>
      )}
    </form>
  )
}

interface LiveButtonProps {
  readonly list: ListState
  readonly total: number
}

/** Shows whether the list follows the newest events and how many came since the user scrolled away, and leads back to them. */
function LiveButton({ list, total }: LiveButtonProps) {
  const isFollowing = list.isFollowing.value
  // How many there were when the end was last visible.
  const seen = useRef(total)
  if (isFollowing) seen.current = total
  const fresh = total - seen.current
  return (
    <span class="live">
      <button type="button" aria-pressed={isFollowing} onClick={() => list.follow(total)}>
        {isFollowing ? '● live' : `paused · ${countText(fresh)} new`}
      </button>
      <Announcement total={total} />
    </span>
  )
}

/** For screen readers, at most every five seconds. */
function Announcement({ total }: { readonly total: number }) {
  const announcer = useMemo(() => createAnnouncer(total), [])
  const latest = useRef(total)
  latest.current = total
  const [said, say] = useState('')
  useEffect(() => {
    const timer = setInterval(() => {
      const text = announcer.sayNow(latest.current, Date.now())
      if (text !== undefined) say(`${text}, ${counted(latest.current, 'event')} in all`)
    }, 1_000)
    return () => clearInterval(timer)
  }, [])
  return (
    <span class="unseen" role="status">
      {said}
    </span>
  )
}
