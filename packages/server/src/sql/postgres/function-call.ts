/**
 * Calls of functions in the database, each built from a table: arguments go by the names of the parameters, and results by the names of
 * the columns. The order does not matter; a name that the function does not have is refused when the statement is prepared.
 */
import { bigints, booleans, integers, smallints, textsOf, uuids } from './array.ts'
import type { Statement, Value } from './session.ts'

/** One parameter: its type in the database, and its value. */
interface Parameter<Given> {
  readonly type: string
  readonly value: (given: Given) => Value
}

/** By the names in the function. */
export type ParameterTable<Given> = Readonly<Record<string, Parameter<Given>>>

/** By their names: the SQL that selects each. Each arrives as text. */
export type ColumnTable = Readonly<Record<string, string>>

export type ColumnTexts<Columns extends ColumnTable> = { readonly [Name in keyof Columns]: string }

interface FunctionCall<Given> {
  readonly statement: Statement
  /** The values of the statement. */
  valuesOf(given: Given): Value[]
}

/** `name`: of the prepared statement. `of`: the function. */
export function functionCall<Given>(
  name: string,
  of: string,
  parameters: ParameterTable<Given>,
  columns: ColumnTable,
): FunctionCall<Given> {
  const values = Object.values(parameters)
  const given = Object.entries(parameters).map(([to, { type }], index) => `${to} => $${index + 1}::${type}`)
  const answered = Object.entries(columns).map(([to, sql]) => `${sql} AS ${to}`)
  return {
    statement: { name, text: `SELECT ${answered.join(', ')} FROM ${of}(${given.join(', ')})` },
    valuesOf: (call) => values.map(({ value }) => value(call)),
  }
}

/** A parameter that takes a list, with one element for each item of a kind. */
interface ListParameter<Item> {
  readonly type: string
  readonly encode: (items: readonly Item[]) => Buffer
}

function listOf<T>(type: string, encode: (values: readonly (T | null)[]) => Buffer) {
  return <Item>(element: (item: Item) => T | null): ListParameter<Item> => ({
    type: `${type}[]`,
    encode: (items) => encode(items.map(element)),
  })
}

export const list = {
  uuid: listOf('uuid', uuids),
  text: <Item>(element: (item: Item) => string | null): ListParameter<Item> => ({
    type: 'text[]',
    encode: (items) => textsOf(items, element),
  }),
  boolean: listOf('boolean', booleans),
  smallint: listOf('smallint', smallints),
  integer: listOf('integer', integers),
  bigint: listOf('bigint', bigints),
} as const

/** Parameters that take lists of equal length, each with one element for each item. */
export function listsOver<Given, Item>(
  items: (given: Given) => readonly Item[],
  lists: Readonly<Record<string, ListParameter<Item>>>,
): ParameterTable<Given> {
  return Object.fromEntries(
    Object.entries(lists).map(([name, { type, encode }]) => [
      name,
      { type, value: (given: Given) => encode(items(given)) },
    ]),
  )
}
