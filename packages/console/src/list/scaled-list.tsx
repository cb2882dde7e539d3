/** A list of any length. Only the visible rows and a few others are in the page. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import type { ListState } from './list-state.ts'
import { rowAfterKey, rowsInPage, scrollHeightOf, topOf } from './scale.ts'
import type { Rows } from './scale.ts'
import './list.css'

interface Props {
  /** What the list is, for screen readers. */
  readonly label: string
  readonly columns: readonly string[]
  readonly state: ListState
  readonly rowCount: number
  /** The cells of a row, one for each column, also for a row that has not arrived yet. */
  readonly cellsOf: (row: number) => readonly ComponentChildren[]
  readonly classOf: (row: number) => string
  /** Called with a row that was chosen by keyboard or click. */
  readonly onChoose: (row: number) => void
  /** The rows in the page, after they have rested for 60 ms. */
  readonly onRest: (rows: Rows) => void
}

const restMs = 60
/** After this time the bar is put where the rows are. */
const settledMs = 150

export function ScaledList(props: Props) {
  const { label, columns, state, rowCount, cellsOf, classOf, onChoose } = props
  const { scroller, onScroll } = useScroller(props)
  const id = useId()
  const shape = state.shape(rowCount)
  const { position } = state.scroll.value
  const { first, last } = rowsInPage(shape, position)
  const rows = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n)
  const active = Math.min(state.active.value, rowCount - 1)

  function press(event: KeyboardEvent): void {
    if (event.target !== event.currentTarget) return
    if (event.key === 'Enter') onChoose(active)
    const target = rowAfterKey(event, active, shape)
    if (target === undefined) return
    event.preventDefault()
    state.see(rowCount, target)
  }

  function click({ target }: MouseEvent): void {
    const found = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null
    if (found === null) return
    const row = Number(found.dataset['row'])
    state.active.value = row
    onChoose(row)
  }

  return (
    <div
      class="list"
      ref={scroller}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={rowCount + 1}
      aria-readonly="true"
      aria-activedescendant={active >= first && active <= last ? `${id}-${active}` : undefined}
      onKeyDown={press}
      onClick={click}
      onScroll={onScroll}
    >
      <Heads columns={columns} />
      <div style={{ height: `${Math.max(scrollHeightOf(shape), shape.viewHeight)}px` }}>
        <div class="seen" style={{ height: `${shape.viewHeight}px` }}>
          {rows.map((row) => (
            <div
              key={row}
              id={`${id}-${row}`}
              class={`row ${classOf(row)} ${row === active ? 'active' : ''}`}
              role="row"
              data-row={row}
              aria-rowindex={row + 2}
              style={{ transform: `translateY(${row * shape.rowHeight - position}px)` }}
            >
              {cellsOf(row).map((cell, n) => (
                <span key={columns[n]} role="gridcell">
                  {cell}
                </span>
              ))}
            </div>
          ))}
        </div>
      </div>
    </div>
  )
}

function Heads({ columns }: Pick<Props, 'columns'>) {
  return (
    <div class="row heads" role="row" aria-rowindex={1}>
      {columns.map((name) => (
        <span key={name} role="columnheader">
          {name}
        </span>
      ))}
    </div>
  )
}

/** What moves the list: its scroller, its height, and its number of rows. */
function useScroller({ state, rowCount, onRest }: Props) {
  const scroller = useRef<HTMLDivElement>(null)
  const latest = useRef({ rowCount, onRest })
  latest.current = { rowCount, onRest }
  const scroll = state.scroll.value
  const viewHeight = state.viewHeight.value

  useLayoutEffect(() => {
    const { current } = scroller
    if (current === null) return undefined
    const measure = (): void => {
      state.rowHeight.value = Number.parseFloat(getComputedStyle(current).getPropertyValue('--row'))
      const heads = current.querySelector<HTMLElement>('.heads')?.offsetHeight ?? 0
      state.viewHeight.value = Math.max(0, current.clientHeight - heads)
    }
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    measure()
    return () => observer.disconnect()
  }, [state])

  // The list has grown, or the window has another size.
  useLayoutEffect(() => state.settle(rowCount), [state, rowCount, viewHeight])

  useLayoutEffect(() => {
    const { current } = scroller
    if (current !== null && Math.abs(current.scrollTop - scroll.top) >= 1) current.scrollTop = scroll.top
  }, [scroll])

  useEffect(() => {
    let frame = 0
    const timer = setTimeout(() => {
      // On a busy machine the time can be over while the list still moves: the next frame shows that first.
      frame = requestAnimationFrame(() => {
        if (state.scroll.peek() !== scroll) return
        const shape = state.shape(latest.current.rowCount)
        if (shape.viewHeight > 0) latest.current.onRest(rowsInPage(shape, scroll.position))
      })
    }, restMs)
    const settled = setTimeout(() => {
      const { position, top } = state.scroll.peek()
      const right = topOf(state.shape(latest.current.rowCount), position)
      if (Math.abs(right - top) >= 1) state.scroll.value = { position, top: right }
    }, settledMs)
    return () => {
      clearTimeout(timer)
      cancelAnimationFrame(frame)
      clearTimeout(settled)
    }
  }, [state, scroll, viewHeight, rowCount])

  function onScroll(): void {
    const { current } = scroller
    if (current !== null) state.scrolledTo(latest.current.rowCount, current.scrollTop)
  }
  return { scroller, onScroll }
}
