/** What a list is limited to: each field is a part of the address, so that the list can be sent to a colleague as it is. */
import { useState } from 'preact/hooks'
import { addressTime, fieldTime } from '../words/times.ts'

export interface FilterField {
  /** In the address. */
  readonly name: string
  readonly says: string
  /** Values to choose from, and how they are called; without them anything can be typed. */
  readonly among?: readonly (readonly [value: string, says: string])[]
}

type Values = Readonly<Record<string, string | undefined>>

interface Props {
  /** `from` and `to` are added to them: times by the clock of the reader. */
  readonly fields: readonly FilterField[]
  readonly query: Values
  readonly look: (values: Values) => void
}

const times = [
  { name: 'from', says: 'From' },
  { name: 'to', says: 'To' },
] as const

/** To be given a `key` of the address: what was typed goes with it. */
export function Filters({ fields, query, look }: Props) {
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
    look(Object.fromEntries([...kept, ...changed]))
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
              <option value="">all</option>
              {among.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
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
      <button type="submit">Look</button>
      {isFiltered && (
        <button type="button" class="plain" onClick={() => look({})}>
          All
        </button>
      )}
    </form>
  )
}

function isTime(name: string): boolean {
  return times.some((time) => time.name === name)
}
