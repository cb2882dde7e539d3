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
