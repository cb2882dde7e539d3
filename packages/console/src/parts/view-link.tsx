/** A link to one of `paths`, or only its words if the session may not see that. */
import type { ComponentChildren } from 'preact'
import { hrefOf } from '../root.ts'
import { signedIn } from '../session/session.ts'
import { mayOpen } from '../views/open-paths.ts'

interface Props {
  readonly path: string
  readonly title?: string
  readonly children: ComponentChildren
}

export function ViewLink({ path, title, children }: Props) {
  if (!mayOpen(signedIn().key, path)) return <span title={title}>{children}</span>
  return (
    <a href={hrefOf(path)} title={title}>
      {children}
    </a>
  )
}
