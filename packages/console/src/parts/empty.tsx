/** Nothing is there, and that is right: a sentence, and what can be done. */
import type { ComponentChildren } from 'preact'
import './empty.css'

interface Props {
  readonly title: string
  readonly children?: ComponentChildren
}

export function Empty({ title, children }: Props) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {children}
    </div>
  )
}

/** Something is on its way, and what: nothing waits without saying for what. */
export function Waiting({ what }: { readonly what: string }) {
  return (
    <p class="waiting" role="status">
      Waiting for {what} …
    </p>
  )
}
