/** What a view is. The table of them is index.ts beside this file. */
import type { Access } from '../session/access.ts'

export interface ViewProps {
  /** The parts of the address that the path names: `{ tenantId, agentRef }`. */
  readonly parts: Readonly<Record<string, string | undefined>>
  /** The decoded query. */
  readonly query: Readonly<Record<string, string | undefined>>
}

export interface MenuEntry {
  readonly name: string
  /** One of `places`. */
  readonly place: string
}

export interface View {
  /** Below the console's base, with `:name` for a part. It has no dot. */
  readonly path: string
  /** For the title of the tab. */
  readonly title: string
  /** Whether a session may see it. If not, the view says so. Without this function anybody may. */
  readonly isOpen?: (access: Access, parts: ViewProps['parts']) => boolean
  /** Its entries in the menu, for a session and the chosen tenant. */
  readonly menu?: (access: Access, tenantId: string | undefined) => readonly MenuEntry[]
}
