/** A native dialog: it takes the keyboard focus while it is open, and returns it. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import './dialog.css'

interface Props {
  readonly title: string
  /** Called after it was closed, also with Escape. The caller then removes it. */
  readonly onClose: () => void
  readonly children: ComponentChildren
}

interface ActionsProps {
  /** On the button that acts. */
  readonly name: string
  readonly isBusy: boolean
  readonly isDisabled?: boolean
  /** What it does cannot be undone. */
  readonly isDanger?: boolean
  readonly onCancel: () => void
}

/** At the end of a form in a dialog: the act, and the way back. */
export function DialogActions({ name, isBusy, isDisabled, isDanger, onCancel }: ActionsProps) {
  return (
    <p class="dialog-actions">
      <button
        class={isDanger === true ? 'main danger' : 'main'}
        type="submit"
        disabled={isDisabled === true || isBusy}
      >
        {isBusy ? 'Waiting for the service …' : name}
      </button>
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </p>
  )
}

/** Open as long as it exists. */
export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  // Before the next key is pressed, because what is typed at once belongs in it.
  useLayoutEffect(() => {
    const { current } = dialog
    current?.showModal()
    // Otherwise it would be the button that closes.
    current?.querySelector<HTMLElement>('input, select, textarea')?.focus()
    return () => current?.close()
  }, [])
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby={titleId} onClose={onClose}>
      <header>
        <h2 id={titleId}>{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={() => dialog.current?.close()}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  )
}
