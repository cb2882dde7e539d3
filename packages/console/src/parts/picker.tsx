/** A field with a list below it: type, move with the arrow keys, and open with Enter. */
import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import { useState } from 'preact/hooks'
import './picker.css'

export interface Choice {
  readonly href: string
  /** The kind of what is listed, if the list has several: `Property`. */
  readonly kind?: string
  readonly name: ComponentChildren
  readonly note?: string
}

interface Props {
  /** Of the field; `undefined`: nothing can be typed. */
  readonly label: string
  readonly text: string
  readonly onText: (text: string) => void
  readonly choices: readonly Choice[]
  /** Called before the address changes. */
  readonly onChosen: () => void
  /** Between the field and the list. */
  readonly children?: ComponentChildren
}

export function Picker({ label, text, onText, choices, onChosen, children }: Props) {
  const [chosen, choose] = useState(0)
  const { route } = useLocation()
  const at = Math.min(chosen, Math.max(0, choices.length - 1))

  function press(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      choose((at + step + Math.max(1, choices.length)) % Math.max(1, choices.length))
    }
    const { [at]: target } = choices
    if (event.key !== 'Enter' || target === undefined) return
    event.preventDefault()
    onChosen()
    route(target.href)
  }

  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-label={label}
        aria-expanded={choices.length > 0}
        aria-controls="choices"
        aria-autocomplete="list"
        aria-activedescendant={choices.length === 0 ? undefined : `choice-${at}`}
        autoComplete="off"
        spellcheck={false}
        placeholder={label}
        value={text}
        onInput={({ currentTarget }) => {
          onText(currentTarget.value)
          choose(0)
        }}
        onKeyDown={press}
      />
      {children}
      <div id="choices" class="picker" role="listbox" aria-label="Results" hidden={choices.length === 0}>
        {choices.map(({ href, kind, name, note }, n) => (
          <a
            key={`${href} ${kind ?? ''}`}
            id={`choice-${n}`}
            role="option"
            aria-selected={n === at}
            tabIndex={-1}
            href={href}
            onClick={onChosen}
            ref={n === at ? bringIntoView : null}
          >
            {kind !== undefined && <span class="kind">{kind} </span>}
            {name} {note !== undefined && <span class="kind">{note}</span>}
          </a>
        ))}
      </div>
    </>
  )
}

function bringIntoView(choice: HTMLElement | null): void {
  choice?.scrollIntoView({ block: 'nearest' })
}
