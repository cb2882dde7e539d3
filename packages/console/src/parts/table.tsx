/** A complete table: rows with a key, columns with a name. On a phone a row takes two lines. */
import type { ComponentChildren } from 'preact'
import './table.css'

export interface Column<Row> {
  /** The head of the column. */
  readonly name: string
  readonly cell: (row: Row) => ComponentChildren
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean
  /** Never breaks its line, and is as wide as its content. */
  readonly isShort?: boolean
  /** The column that names the row for screen readers. Each table has one. */
  readonly isName?: boolean
  /** Left out on a phone. */
  readonly isWide?: boolean
}

interface Props<Row> {
  /** What the table is, for screen readers. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly classOf?: (row: Row) => string | undefined
  /** The row that the user came for: it is marked, and brought into view. */
  readonly isTarget?: (row: Row) => boolean
}

export function Table<Row>({ caption, columns, rows, keyOf, classOf, isTarget }: Props<Row>) {
  return (
    <table class="table">
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.name} scope="col" class={classesOf(column)}>
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            class={classOf?.(row)}
            {...(isTarget?.(row) === true && { 'aria-current': 'true', ref: bringIntoView })}
          >
            {columns.map((column) => (
              <Cell key={column.name} column={column} row={row} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function bringIntoView(row: HTMLElement | null): void {
  row?.scrollIntoView({ block: 'nearest' })
}

function Cell<Row>({ column, row }: { readonly column: Column<Row>; readonly row: Row }) {
  const inner = column.cell(row)
  if (column.isName === true) {
    return (
      <th scope="row" class={classesOf(column)}>
        {inner}
      </th>
    )
  }
  return (
    <td class={classesOf(column)} data-name={column.name}>
      {inner}
    </td>
  )
}

function classesOf<Row>({ isNumber, isWide, isName, isShort }: Column<Row>): string {
  const classes = { number: isNumber, wide: isWide, name: isName, short: isShort }
  return Object.entries(classes)
    .flatMap(([name, isOn]) => (isOn === true ? [name] : []))
    .join(' ')
}
