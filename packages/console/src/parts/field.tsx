/** A field of a form with its name, its explanation, and its fault. */
import type { ComponentChildren } from 'preact'
import './dialog.css'

interface Props {
  readonly id: string
  readonly name: string
  readonly value: string
  readonly onValue: (value: string) => void
  /** Below it. */
  readonly says?: ComponentChildren
  readonly fault?: string | undefined
  readonly hint?: string | undefined
  readonly isRequired?: boolean | undefined
  /** A day and a time. */
  readonly isTime?: boolean | undefined
  /** For a longer text: the number of lines. */
  readonly rows?: number | undefined
  /** Values to choose from. The first choice is none. */
  readonly among?: readonly string[] | undefined
}

export function Field({
  id,
  name,
  value,
  onValue,
  says,
  fault,
  hint,
  isRequired,
  isTime,
  rows,
  among,
}: Props) {
  const described = [says === undefined ? '' : `${id}-says`, fault === undefined ? '' : `${id}-fault`]
  const shared = {
    id,
    value,
    autoComplete: 'off',
    spellcheck: false,
    placeholder: hint,
    'aria-required': isRequired,
    'aria-invalid': fault !== undefined,
    'aria-describedby': described.join(' ').trim() || undefined,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => onValue(currentTarget.value),
  }
  return (
    <div class="form-field">
      <label for={id}>{isRequired === true ? `${name} (needed)` : name}</label>
      {among !== undefined && among.length > 0 ? (
        <select {...shared}>
          {['', ...among].map((one) => (
            <option key={one} value={one}>
              {one || '–'}
            </option>
          ))}
        </select>
      ) : rows !== undefined ? (
        <textarea {...shared} rows={rows} />
      ) : isTime === true ? (
        <input {...shared} type="datetime-local" />
      ) : (
        <input {...shared} type="text" />
      )}
      {says !== undefined && (
        <small id={`${id}-says`} class="quiet">
          {says}
        </small>
      )}
      {fault !== undefined && (
        <p id={`${id}-fault`} class="fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}
