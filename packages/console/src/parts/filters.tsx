/** The filters of a list. Each field is part of the address, so that a user can send the list to a colleague as it is. */
import { useState } from 'preact/hooks'
import { addressTime, fieldTime } from '../words/times.ts'

interface FilterField {
  /** Its name in the address. */
  readonly name: string
  readonly says: string
  /** The values to choose from, and their labels. Without them, any text can be typed. */
  readonly among?: readonly (readonly [value: string, says: string])[]
}

type Values = Readonly<Record<string, string | undefined>>

interface Props {
  /** Adds `from` and `to`: times in the reader's time zone. */
  readonly fields: readonly FilterField[]
  readonly query: Values
  readonly apply: (values: Values) => void
}

const times = [
  { name: 'from', says: 'From' },
  { name: 'to', says: 'To' },
] as const

/** Give it a `key` derived from the address, so that typed text goes with the address. */
export function Filters({ fields, query, apply }: Props) {
  const [typed, type] = useState<Values>({})
  const change = ({
    currentTarget: { name, value },
  }: {
    currentTarget: HTMLInputElement | HTMLSelectElement
  }) => type({ ...typed, [name]: value.trim() })
  const names = [...fields, ...times].map(({ name }) => name)
  const isFiltered = names.some((name) => query[name] !== undefined)
  function submit(event: Event): void {
    event.preventDefault()
    const changed = Object.entries(typed).map(([name, text = '']) => [
      name,
      isTime(name) ? addressTime(text) : text,
    ])
    const kept = names.map((name) => [name, query[name]])
    apply(Object.fromEntries([...kept, ...changed]))
  }
  return (
    <form class="filters" role="search" onSubmit={submit}>
      {fields.map(({ name, says, among }) => (
        <label key={name}>
          {says}
          {among === undefined ? (
            <input name={name} value={typed[name] ?? query[name] ?? ''} onInput={change} />
          ) : (
            <select name={name} value={typed[name] ?? query[name] ?? ''} onChange={change}>
              <Options among={among} />
            </select>
          )}
        </label>
      ))}
      {times.map(({ name, says }) => (
        <label key={name}>
          {says}
          <input
            type="datetime-local"
            name={name}
            value={typed[name] ?? fieldTime(query[name], name === 'to')}
            onInput={change}
          />
        </label>
      ))}
      <button type="submit">Apply</button>
      {isFiltered && (
        <button type="button" class="plain" onClick={() => apply({})}>
          Clear
        </button>
      )}
    </form>
  )
}

function isTime(name: string): boolean {
  return times.some((time) => time.name === name)
}

/** The options of a choice: everything, or one of the values. */
export function Options({
  among,
  all = 'All',
}: {
  readonly among: readonly (readonly [value: string, says: string])[]
  /** The first option. */
  readonly all?: string
}) {
  return (
    <>
      <option value="">{all}</option>
      {among.map(([value, says]) => (
        <option key={value} value={value}>
          {says}
        </option>
      ))}
    </>
  )
}
