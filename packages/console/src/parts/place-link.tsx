/** A link to one of `places`, or only its words if the session may not see that. */
import type { ComponentChildren } from 'preact'
import { hrefOf } from '../root.ts'
import { signedIn } from '../session/session.ts'
import { mayOpen } from '../views/open-places.ts'

interface Props {
  readonly place: string
  readonly title?: string
  readonly children: ComponentChildren
}

export function PlaceLink({ place, title, children }: Props) {
  if (!mayOpen(signedIn().key, place)) return <span title={title}>{children}</span>
  return (
    <a href={hrefOf(place)} title={title}>
      {children}
    </a>
  )
}
