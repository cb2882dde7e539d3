/** Small pictures beside words. They say nothing that the words do not, so that screen readers leave them out. */
import { drawings } from './icon-drawings.ts'
import type { IconName } from './icon-drawings.ts'

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={drawings[name]} />
    </svg>
  )
}
