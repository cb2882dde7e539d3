/** There is nothing, and rightly so: a sentence, and what can be done. */
import type { ComponentChildren } from 'preact'
import './empty.css'

interface Props {
  readonly title: string
  readonly children?: ComponentChildren
  /** It takes the place of a whole view, and is therefore its heading. */
  readonly isView?: boolean
}

export function Empty({ title, children, isView }: Props) {
  const Title = isView === true ? 'h1' : 'p'
  return (
    <div class="empty">
      <Title class="title">{title}</Title>
      {children}
    </div>
  )
}

/** Something is loading, and this says what: no view waits without saying for what. */
export function Waiting({ what }: { readonly what: string }) {
  return (
    <p class="waiting" role="status">
      Loading {what} …
    </p>
  )
}
